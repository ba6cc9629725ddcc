import sys
src=open('.move/order.py').read().split("rooms=sorted")[0]
exec(src)
o=sys.argv[1].split()
pos={r:i for i,r in enumerate(o)}
tot=0
for (a,b),w in sorted(W.items()):
    if a not in pos or b not in pos: print('??',a,b); continue
    if pos[a]<pos[b]:
        tot+=w
        for d in det[a,b]: print(f'{a}→{b}:',*d)
print(tot)
