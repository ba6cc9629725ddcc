"""Moves the tree to rooms: python move.py REPO"""
import sys, json, re, subprocess
sys.path.insert(0,'.move')
from pathlib import Path
from refactor import Repo
root=Path(sys.argv[1]); R=Repo(root)
sys.argv=['table']
import importlib.util
spec=importlib.util.spec_from_file_location('table','.move/table.py'); T=importlib.util.module_from_spec(spec); spec.loader.exec_module(T)
SPECIAL={
 'use_cases.series.reading.occurrences':'series.use_cases.list_occurrences',
 'core.api.signing.rotation':'signing.rules.rotation_body',
 'core.api.problem':'http.problem','core.api.field_errors':'http.field_errors','core.api.json_body':'http.json_body','core.api.routes':'http.routes',
 'aws.http.authorization':'http.calls.authorization','aws.http.loopback':'http.calls.loopback','aws.http.problems':'http.calls.problems','aws.http.requests':'http.calls.requests','aws.http.responses':'http.calls.responses',
 'aws.connections.sealing':'engines.aws.sealing','aws.connections.secrets':'engines.aws.secrets_manager',
 'aws.deployment.custom_resource':'lambdas.custom_resource',
 'aws.messaging.consumers':'lambdas.consumers','aws.messaging.stream_consumer':'lambdas.stream_consumer',
 'repositories.feed':'lambdas.feed','fakes.messaging.stream':'lambdas.memory_stream',
 'fakes.runtime.target':'actions.fakes.target',
}
def table():
    out={}
    for p in sorted((root/'shared/delayer').rglob('*.py')):
        m='.'.join(p.relative_to(root/'shared/delayer').with_suffix('').parts)
        if m.endswith('__init__'): continue
        r=T.room(m)
        assert r,m
        out[m]=SPECIAL.get(m) or T.new(m,r)
    return out
INIT={
 'schedule':'What a schedule is: its time, its address, its id, its definition, and the messages that carry it. Pure.',
 'engines':'What lies outside: the store, queues, topics, secrets, the clock. Its ports, and what answers them: AWS, SQLite, memory.',
 'engines.ports':'What use cases need from outside that keeps no rows.',
 'engines.aws':'The engines on AWS, and the only package that imports botocore beside the targets.',
 'engines.memory':'Queues, topics, clocks and logs in memory, under a clock that is moved by hand, held to the contract tests of the others.',
 'records':'The records of schedules, each in the table of its lane, and the control rows of those who write and sweep them.',
 'recurrence':'Rules of recurrence: what `repeat` says, and the times that follow from it. Pure.',
 'ledger':'Who decides: the ledger row, the lifecycle through which each row is made, the claim, the outcome.',
 'masking':'What is shown of secrets: nothing. Pure.',
 'http':'Calls of the API: what is wrong with one, what its body and its fields may be, and how it is answered.',
 'http.calls':'Requests and answers of an API Gateway HTTP API, payload format 2.0.',
 'actions':'Action types: what their classes say, whose they are, and what an attempt comes to.',
 'history':'Lifecycle events, the journal of them, and the lists of schedules.',
 'owners':'What an operator says that an owner may do, and how much.',
 'flow':'What waits although it is due: suspensions, circuits of targets that do not answer, limits and their seats.',
 'connections':'Connections: the secrets of owners that their actions name, and never hold (ADR 0105, 0106).',
 'accept':'POST, PUT, PATCH, DELETE and GET of schedules: each is accepted, replaced, cancelled, stopped or shown.',
 'jobs':'Groups that are cancelled in the background.',
 'dead_letters':'What cannot go on and must not be lost: stored, listed, redriven, discarded.',
 'recovery':'What a function dies of is handled alone; a killer is told from an outage; the canary shows that the path works.',
 'enqueue':'From the table to the delayer queue: stream-enqueuer, the tick, the sweep, what is brought back.',
 'relay':'From the delayer queue to the queue of the action: waits, claims, hands over. Also in the relaxed lane.',
 'execute':'Makes the attempts at a target, and writes how each ended.',
 'timing':'What waits for its time: a policy is asked, and its decision is written.',
 'signing':'Signatures by which a target knows that a request is Delayer\'s: keys, secrets, how long each of them signs.',
 'series':'A schedule that is put again and again, by a rule.',
 'lambdas':'The events of Lambda, translated, and how one function asks another.',
}
LAYERS={'rules':'Decides: data in, data out. No clock, no chance, nothing from outside.','use_cases':'Carries out: ports in, decisions of the rules carried out.','ports':'What the use cases need from outside, with its rows.','repository':'The rows of these ports, on the store.','routes':'How its calls are answered.','fakes':'In memory.'}
DATA={'aws/start/endpoints.json':'engines/aws/endpoints.json','core/actions/built_in.json':'actions/rules/built_in.json','core/api/contract.json':'http/contract.json','core/timing/policies.json':'accept/rules/policies.json'}
TESTS={ # where no module of the table has the test's name
 'tests/unit/aws/deployment':'lambdas','tests/unit/aws/events':'lambdas','tests/unit/aws/http':'http/calls','tests/unit/aws/http/series':'series/routes','tests/unit/aws/runtime':'engines/aws','tests/unit/aws/start':'engines/aws','tests/unit/aws/store':'engines/aws',
 'tests/unit/core/actions':'actions/rules','tests/unit/core/addresses':'actions/rules','tests/unit/core/api':'accept/rules','tests/unit/core/api/series':'series/rules','tests/unit/core/connections':'connections/rules','tests/unit/core/firing':'relay/rules','tests/unit/core/flow':'flow/rules','tests/unit/core/history':'history/rules','tests/unit/core/jobs':'jobs/rules','tests/unit/core/ledger':'ledger/rules','tests/unit/core/limits':'flow/rules','tests/unit/core/masking':'masking','tests/unit/core/owners':'owners/rules','tests/unit/core/recovery':'recovery/rules','tests/unit/core/recurrence':'recurrence','tests/unit/core/schedule':'schedule','tests/unit/core/schemas':'schedule','tests/unit/core/series':'series/rules','tests/unit/core/series/upkeep':'series/rules','tests/unit/core/signing':'signing/rules','tests/unit/core/timing':'timing/rules',
 'tests/unit/fakes':'engines/memory','tests/unit/repositories':'engines/store','tests/unit/sqlite':'engines/sqlite','tests/unit/store':'engines/store',
 'tests/unit/use_cases':'accept/use_cases','tests/unit/use_cases/actions':'actions/use_cases','tests/unit/use_cases/api':'accept/use_cases','tests/unit/use_cases/batches':'execute/use_cases','tests/unit/use_cases/connections':'connections/use_cases','tests/unit/use_cases/firing':'execute/use_cases','tests/unit/use_cases/flow':'flow/use_cases','tests/unit/use_cases/history':'history/use_cases','tests/unit/use_cases/lanes':'enqueue/use_cases','tests/unit/use_cases/limits':'flow/use_cases','tests/unit/use_cases/owners':'owners/use_cases','tests/unit/use_cases/recovery':'dead_letters/use_cases','tests/unit/use_cases/recovery/suspects':'recovery/use_cases','tests/unit/use_cases/series':'series/use_cases','tests/unit/use_cases/series/steering':'series/steering','tests/unit/use_cases/series/upkeep':'series/upkeep','tests/unit/use_cases/signing':'signing/use_cases','tests/unit/use_cases/timing':'timing/use_cases',
}
ALONE={'tests/unit/aws/http/test_action_list.py':'actions/routes','tests/unit/aws/http/test_connection_calls.py':'connections/routes','tests/unit/aws/http/test_signing_secret.py':'signing/routes','tests/unit/core/api/test_request_schemas.py':'http','tests/unit/core/api/test_hostile_input.py':'http','tests/unit/core/api/test_every_reader.py':'accept/rules'}
def git(*a): subprocess.run(['git',*a],cwd=root,check=True)
def mv(a,b):
    (root/b).parent.mkdir(parents=True,exist_ok=True); git('mv',a,b)
def test_paths():
    """old test file -> new test file"""
    t=table(); out={}
    files=subprocess.run(['git','ls-files','tests/unit'],cwd=root,capture_output=True,text=True,check=True).stdout.split()
    for f in files:
        d=f.rpartition('/')[0]
        if d not in TESTS: continue
        stem=Path(f).stem; mod='.'.join(Path(d).parts[2:]+(stem.removeprefix('test_'),))
        if f in ALONE: to=ALONE[f]
        elif mod in t and stem.startswith('test_'): to='/'.join(t[mod].split('.')[:-1])
        else: to=TESTS[d]
        out[f]=f'tests/unit/{to}/{Path(f).name}'
    inv={}
    for k,v in out.items(): assert v not in inv,(v,k,inv[v]); inv[v]=k
    return out
def main():
    t=table(); tests=test_paths()
    t={a:b for a,b in t.items() if a!=b}
    for a,b in t.items():
        mv(f"shared/delayer/{a.replace('.','/')}.py",f"shared/delayer/{b.replace('.','/')}.py")
    for a,b in DATA.items(): mv(f'shared/delayer/{a}',f'shared/delayer/{b}')
    mv('shared/delayer/fakes/__init__.py','shared/delayer/fakes_index.py')
    kept={'wiring','extension','targets','targets.connecting','targets.connections'}
    for old_init in sorted((root/'shared/delayer').rglob('__init__.py')):
        name='.'.join(old_init.parent.relative_to(root/'shared/delayer').parts)
        if name in ('store','sqlite'): mv(f'shared/delayer/{name}/__init__.py',f'shared/delayer/engines/{name}/__init__.py'); continue
        if name and name not in kept and not name.startswith('engines.'): git('rm','-q',str(old_init.relative_to(root)))
    mv('shared/delayer/fakes_index.py','shared/delayer/fakes.py')
    folders={'.'.join(b.split('.')[:i]) for b in t.values() for i in range(1,len(b.split('.')))}
    for f in sorted(folders):
        p=root/'shared/delayer'/Path(*f.split('.'))/'__init__.py'
        if p.exists(): continue
        p.write_text(f'"""{INIT.get(f) or LAYERS[f.split(".")[-1]]}"""\n'); git('add',str(p.relative_to(root)))
    for a,b in tests.items(): mv(a,b)
    for d in sorted({Path(b).parent for b in tests.values()}):
        pass
    mods={f'delayer.{a}':f'delayer.{b}' for a,b in t.items()}
    mods|={a[:-3].replace('/','.'):b[:-3].replace('/','.') for a,b in tests.items()}
    ch=R.moved(mods)
    # paths in texts
    paths={f"delayer/{a.replace('.','/')}.py":f"delayer/{b.replace('.','/')}.py" for a,b in t.items()}
    paths|={f'delayer/{a}':f'delayer/{b}' for a,b in DATA.items()}
    bare={f"{a.replace('.','/')}.py":f"{b.replace('.','/')}.py" for a,b in t.items() if a.count('.')>=1}
    allp={**paths,**tests}
    pat=re.compile('('+'|'.join(re.escape(k) for k in sorted(allp,key=len,reverse=True))+r')(?!\w)')
    pat2=re.compile(r'(?<![\w/.])('+'|'.join(re.escape(k) for k in sorted(bare,key=len,reverse=True))+r')(?!\w)')
    dotted=re.compile(r'(?<![\w.])('+'|'.join(re.escape(k) for k in sorted(mods,key=len,reverse=True))+r')(?!\w)')
    for f in subprocess.run(['git','ls-files'],cwd=root,capture_output=True,text=True,check=True).stdout.split('\n'):
        p=root/f
        if not f or not p.is_file() or p.suffix in('.png','.svg','.gz','.woff2'): continue
        try: s=p.read_text()
        except UnicodeDecodeError: continue
        n=pat.sub(lambda m:allp[m[1]],s); n=pat2.sub(lambda m:bare[m[1]],n)
        if p.suffix!='.py': n=dotted.sub(lambda m:mods[m[1]],n)
        if n!=s: p.write_text(n)
    subprocess.run(['find','shared','tests','-type','d','-empty','-delete'],cwd=root)
if __name__=='__main__': main()
