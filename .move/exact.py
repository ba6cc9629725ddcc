import ast,sys
from pathlib import Path
from collections import defaultdict
root=Path(sys.argv[1])/'shared/delayer'
ORDER="schedule engines records recurrence ledger masking http actions history owners flow connections accept jobs dead_letters recovery enqueue relay execute timing signing series lambdas wiring extension targets fakes".split()
PURE={'schedule','recurrence','masking'}
def parts_of(full):
    p=full.removeprefix('delayer.').split('.')
    return p
def room(p): return p[0]
def layer(p):
    r=p[0]
    if r in PURE: return 'rules'
    if r=='http': return 'routes' if len(p)>1 and p[1]=='calls' else 'rules'
    if r=='engines': return 'ports' if p[1]=='ports' else f'engines.{p[1]}'
    if r in('lambdas','wiring','extension','targets','fakes'): return r
    return p[1]
rooms=defaultdict(set); layers=defaultdict(set); up=[]
for f in root.rglob('*.py'):
    if f.name=='__init__.py': continue
    me=f.relative_to(root).with_suffix('').parts
    for n in ast.walk(ast.parse(f.read_text())):
        if isinstance(n,ast.ImportFrom) and n.module and n.module.startswith('delayer'):
            for a in n.names:
                p=parts_of(f'{n.module}.{a.name}')
                if p[0]==me[0]: pass
                else: rooms[me[0]].add(p[0])
                la,lb=layer(me),layer(p)
                if la!=lb: layers[la].add((lb))
                if p[0]!=me[0] and ORDER.index(p[0])>ORDER.index(me[0]): up.append((me,p))
for r in ORDER: print(f'    "{r}": {{{", ".join(chr(34)+x+chr(34) for x in sorted(rooms[r],key=ORDER.index))}}},')
for l in layers: print(f'    "{l}": {sorted(layers[l])}')
print(up)
