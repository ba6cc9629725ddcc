import json,sys
from collections import defaultdict
d=json.load(open('./tests/golden/cold-starts.json'))
sys.argv=['t','.']
exec(open('.move/move.py').read().split("INIT={")[0])
t=table()
base=set(d['all functions']['ours'])
fs=defaultdict(set)
for f,v in d.items():
    for m in v['ours']: fs[m.removeprefix('delayer.')].add(f)
allf=len(d)-1
rows=defaultdict(list)
for old,new in t.items():
    n=len((root/'shared/delayer'/(old.replace('.','/')+'.py')).read_text().splitlines())
    s=fs.get(old,set()); s= 'ALL' if 'all functions' in s else frozenset(s)
    rows[new.rpartition('.')[0]].append((new.rpartition('.')[2],n,s))
def short(s):
    if s=='ALL': return 'ALL'
    if not s: return '-'
    l=sorted(s)
    return f"{len(l)}:"+','.join(x.replace('api-','a-').replace('schedule','sch').replace('connection','con').replace('series','ser') for x in l[:6])+('…' if len(l)>6 else '')
for k in sorted(rows):
    print(f'## {k} {len(rows[k])} files {sum(r[1] for r in rows[k])} lines')
    for name,n,s in sorted(rows[k],key=lambda r:short(r[2])): print(f'   {name:22}{n:5} {short(s)}')
