"""Imports between modules of shared/delayer (by symbol → module)."""
import ast,sys,json
from pathlib import Path
root=Path(sys.argv[1] if len(sys.argv)>1 else '.')/'shared/delayer'
mods={}
for p in root.rglob('*.py'):
    parts=p.relative_to(root).with_suffix('').parts
    name='.'.join(parts[:-1] if parts[-1]=='__init__' else parts)
    mods[name]=p
def resolve(full):
    full=full.removeprefix('delayer.')
    while full and full not in mods:
        full=full.rpartition('.')[0]
    return full
edges={}
for n,p in mods.items():
    out={}
    for node in ast.walk(ast.parse(p.read_text())):
        names=[]
        if isinstance(node,ast.ImportFrom) and node.module and node.module.startswith('delayer'):
            names=[(f"{node.module}.{a.name}",a.name) for a in node.names]
        elif isinstance(node,ast.Import):
            names=[(a.name,'') for a in node.names if a.name.startswith('delayer')]
        for full,sym in names:
            m=resolve(full)
            if m!=n and m: out.setdefault(m,set()).add(sym)
    edges[n]={k:sorted(v) for k,v in out.items()}
json.dump(edges,open('.move/edges.json','w'))
print(len(mods),sum(len(v) for v in edges.values()))
