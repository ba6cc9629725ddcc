import re,subprocess,sys,ast
from pathlib import Path
root=Path(sys.argv[1])
out=subprocess.run(['python','.move/exact.py',str(root)],capture_output=True,text=True,check=True).stdout
rooms=[l for l in out.split('\n') if l.startswith('    "') and '{' in l]
p=root/'tests/unit/test_imports.py'; t=p.read_text()
a=t.index('# Each room of the package'); b=t.index('@cache\ndef imported')
sys.argv=['x',str(root)]
src=open('.move/exact.py').read().split('rooms=defaultdict')[0]; exec(src)
fi=set()
for f in sorted((Path(sys.argv[1])/'functions').glob('*/app.py')):
    for n in ast.walk(ast.parse(f.read_text())):
        if isinstance(n,ast.ImportFrom) and n.module and n.module.startswith('delayer'):
            for x in n.names:
                q=parts_of(f'{n.module}.{x.name}'); fi.add((q[0],layer(q)))
lay=re.findall(r'^    "([a-z_.]+)": (\[.*\])$',out,re.M)
LO=['rules','ports','engines.store','engines.aws','engines.sqlite','engines.memory','repository','use_cases','routes','lambdas','wiring','extension','targets','fakes']
lay={k:eval(v) for k,v in lay}
lay.setdefault('rules',[])
new='''# Each room of the package, in the order of the flow, and the rooms that it imports: all of them stand above it, so that
# no arrow leads upwards and there is no cycle. `routes`, `use_cases` and the like within a room are layers.
ROOMS: dict[str, set[str]] = {
'''+'\n'.join(r.replace('{}','set()') for r in rooms)+'''
}
PURE = {"schedule", "recurrence", "masking"}  # these rooms are rules and nothing else
WHOLE = {"lambdas", "wiring", "extension", "targets", "fakes"}  # these are a layer of their own
# What the name of a file or folder inside a room says that it is, and which layers it imports, in its room and others.
LAYERS: dict[str, set[str]] = {
'''+'\n'.join('    "%s": %s,'%(k,('{'+', '.join('"%s"'%x for x in sorted(lay[k],key=LO.index))+'}') if lay[k] else 'set()') for k in LO)+'''
}
FUNCTIONS_IMPORT = {
'''+'\n'.join('    ("%s", "%s"),'%x for x in sorted(fi,key=lambda x:(ORDER.index(x[0]),LO.index(x[1]))))+'''
}


'''
t=t[:a]+new+t[b:]
def cut(name_from,name_to,repl):
    global t
    a=t.index(name_from); b=t.index(name_to,a); t=t[:a]+repl+t[b:]
cut('def room_of(','def files(*folders','''def parts_of(name: str) -> list[str]:
    """Of the full name of a module of ours, or of what it holds, below the package; none if it is not ours."""
    return name.split(".")[1:] if name.startswith("delayer.") else []


def room_of(name: str) -> str | None:
    """The room of a module, or of what it holds, by its full name; None for what is not ours."""
    return next(iter(parts_of(name)), None)


def layer_of(name: str) -> str:
    """The layer of a module of ours, or of what it holds."""
    room, inside, *_ = [*parts_of(name), ""]
    if room in PURE or (room == "http" and inside != "calls"):
        return "rules"
    if room == "http":
        return "routes"
    if room == "engines":
        return "ports" if inside == "ports" else f"engines.{inside}"
    return room if room in WHOLE else inside


@cache
def files_of(room: str) -> list[Path]:
    return [path for path in MODULES if room_of(module_of(path)) == room]


def module_of(path: Path) -> str:
    return "delayer." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"]


def of_layer(layer: str) -> list[Path]:
    return [path for path in MODULES if layer_of(module_of(path)) == layer]


''')
cut('def test_the_sdk_is_imported','def rooms_in','''def test_the_sdk_is_imported_by_the_engines_only() -> None:
    """And where functions are what is called: by the targets, and by who asks another function."""
    may = {"engines.aws", "lambdas", "targets"}
    check([path for path in MODULES if layer_of(module_of(path)) not in may], *AWS_SDK)
    check(sorted(ROOT.glob("functions/*/app.py")), *AWS_SDK)


''')
cut('@of_each(ROOMS)\ndef test_a_room','def test_the_core_uses_few','''@of_each(ROOMS)
def test_a_room_imports_what_the_table_says(room: str) -> None:
    """All of it, and nothing else. It takes a second or two: the whole package is parsed."""
    assert rooms_in(files_of(room)) - {room} == ROOMS[room]


@of_each(LAYERS)
def test_a_layer_imports_what_the_table_says(layer: str) -> None:
    """In whatever room."""
    paths = of_layer(layer)
    assert paths
    found = {layer_of(name) for path in paths for name in imported(path) if parts_of(name)}
    assert found - {layer} == LAYERS[layer]


def test_each_module_is_in_a_room_and_is_of_a_layer() -> None:
    """The packages around them hold nothing."""
    assert {room_of(module_of(path)) for path in MODULES} == set(ROOMS)
    assert {layer_of(module_of(path)) for path in MODULES} == {*LAYERS}
    assert [path for path in PACKAGE.rglob("__init__.py") if list(imported(path))] == []


def test_no_arrow_leads_upwards() -> None:
    names = list(ROOMS)
    assert [(room, one) for room in names for one in ROOMS[room] if names.index(one) >= names.index(room)] == []
    layers = list(LAYERS)
    assert [(one, other) for one in layers for other in LAYERS[one] if layers.index(other) >= layers.index(one)] == []


def test_functions_import_what_they_translate_and_the_wiring() -> None:
    names = {name for path in ROOT.glob("functions/*/app.py") for name in imported(path) if parts_of(name)}
    assert {(str(room_of(name)), layer_of(name)) for name in names} == FUNCTIONS_IMPORT


def test_the_wiring_alone_knows_both_the_use_cases_and_the_engines() -> None:
    """And nobody but the functions, the local stack and the tests knows the wiring."""
    for layer, others in LAYERS.items():
        both = others >= {"use_cases", "engines.aws"}
        assert both == (layer in ("wiring", "targets")), layer  # a target has the credentials of its connection
        assert ("wiring" in others) == (layer == "extension"), "an author's function is wired for it"


''')
t=t.replace('outside(files("core"))','outside(of_layer("rules"))').replace('check(files("core"),','check(of_layer("rules"),').replace('for path in files("core"):','for path in of_layer("rules"):').replace('test_the_core_uses_few_libraries','test_the_rules_use_few_libraries').replace('test_the_core_has_no_clock','test_the_rules_have_no_clock')
t=t.replace('outside(files("ports"))','outside(of_layer("ports"))').replace('outside(files("use_cases"))','outside(of_layer("use_cases"))').replace('outside(files("targets"))','outside(of_layer("targets"))')
cut('def test_the_fakes_stay_out','def test_nothing_imports_from_functions','''def test_the_fakes_stay_out_of_the_lambdas() -> None:
    """They are for tests, those of others included."""
    users = [layer for layer, others in LAYERS.items() if "engines.memory" in others]
    assert users == ["wiring", "extension", "fakes"]
    check(sorted(ROOT.glob("functions/*/app.py")), "delayer.fakes", "delayer.engines.memory")


''')
t=t.replace('if PACKAGE / "fakes" not in path.parents]','if path.name != "fakes.py"]')
t=t.replace('    assert "delayer.fakes" not in modules\n','    assert not {"delayer.fakes", "delayer.engines.memory"} & modules\n')
t=t.replace('name.startswith("delayer.use_cases.")','".use_cases." in name')
p.write_text(t)
