"""old module -> new module, by rooms.txt and the layer of the old one."""
import json
from pathlib import Path
rules=[l.split() for l in open('.move/rooms.txt') if l.strip()]
def room(m):
    p=m.replace('.','/'); best=None
    for k,r in rules:
        if p==k or (k.endswith('/') and (p+'/').startswith(k)):
            if best is None or len(k)>len(best[0]): best=(k,r)
    return best and best[1]
LAYER={'core':'rules','use_cases':'use_cases','ports':'ports','repositories':'repository'}
def new(m, r):
    parts=m.split('.'); top=parts[0]; leaf=parts[-1]
    if r in ('wiring','extension','targets') and top in ('wiring','extension','targets'): return m
    if top=='targets': return m
    if top in ('store','sqlite'): return f'engines.{m}'
    if top=='fakes': return f'{r}.memory.{leaf}' if r=='engines' else f'{r}.fakes.{leaf}'
    if top=='aws':
        second=parts[1]
        if second=='http': return f'{r}.routes.{leaf}' if r!='http' else f'http.{leaf}'
        if r=='engines': return f'engines.aws.{leaf}'
        return f'{r}.{leaf}'
    layer=LAYER[top]
    if r=='engines' : return f'engines.ports.{leaf}'
    if r=='http': return f'http.{leaf}'
    if r in('schedule','recurrence','masking'): return f'{r}.{leaf}'
    return f'{r}.{layer}.{leaf}'
if __name__=='__main__':
    edges=json.load(open('.move/edges.json'))
    out={}
    for m in sorted(edges):
        r=room(m)
        if r is None or (m.count('.')==0 and m in('core','aws','use_cases','ports','repositories')): continue
        p=Path('./shared/delayer')/Path(*m.split('.'))
        if p.is_dir(): continue
        out[m]=new(m,r)
    from collections import Counter
    c=Counter(out.values())
    print({k:[m for m in out if out[m]==k] for k,v in c.items() if v>1})
    import itertools
    rows=sorted(out.items(),key=lambda x:x[1])
    for k,g in itertools.groupby(rows,key=lambda x:x[1].rpartition('.')[0]):
        print(k,':',', '.join(x[1].rpartition('.')[2] for x in g))
    json.dump(out,open('.move/table.json','w'),indent=0)
