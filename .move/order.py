import json,random,sys
from collections import Counter,defaultdict
edges=json.load(open('.move/edges.json'))
rules=[l.split() for l in open('.move/rooms.txt') if l.strip()]
def room(m):
    p=m.replace('.','/')
    best=None
    for k,r in rules:
        if p==k or (k.endswith('/') and (p+'/').startswith(k)):
            if best is None or len(k)>len(best[0]): best=(k,r)
    return best and best[1]
W=Counter(); det=defaultdict(list)
for a,out in edges.items():
    ra=room(a)
    if ra is None: 
        if a not in('','core','aws'): print('no room',a)
        continue
    for b,s in out.items():
        rb=room(b)
        if rb and ra!=rb: W[ra,rb]+=1; det[ra,rb].append((a,b,s))
rooms=sorted({r for e in W for r in e})
def cost(o):
    pos={r:i for i,r in enumerate(o)}
    return sum(w for (a,b),w in W.items() if pos[a]<pos[b])
best=None
random.seed(1)
for t in range(60):
    o=rooms[:]; random.shuffle(o); c=cost(o); imp=True
    while imp:
        imp=False
        for r in rooms:
            i=o.index(r); o2=o[:i]+o[i+1:]
            cs=[(cost(o2[:j]+[r]+o2[j:]),j) for j in range(len(o))]
            m,j=min(cs)
            if m<c: o=o2[:j]+[r]+o2[j:]; c=m; imp=True
    if best is None or c<best[0]: best=(c,o)
c,o=best
print(c,'of',sum(W.values())); print(' '.join(o))
pos={r:i for i,r in enumerate(o)}
for (a,b),w in sorted(W.items()):
    if pos[a]<pos[b]:
        for d in det[a,b]: print(f'{a}→{b}:',*d)
