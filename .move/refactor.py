"""Moves modules and names of shared/delayer, and rewrites every import by syntax tree."""
import ast, re, subprocess, sys
from collections import defaultdict
from pathlib import Path

class Repo:
    def __init__(self, root):
        self.root = Path(root)
        self.pkg = self.root / "shared"
    def py(self):
        out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"], cwd=self.root, capture_output=True, text=True, check=True).stdout.split("\n")
        return [self.root / p for p in out if p and (self.root / p).exists()]
    def path(self, mod):
        p = self.pkg / Path(*mod.split("."))
        return p / "__init__.py" if p.is_dir() and not p.with_suffix(".py").exists() else p.with_suffix(".py")
    def is_module(self, mod):
        p = self.pkg / Path(*mod.split("."))
        return p.with_suffix(".py").exists() or (p / "__init__.py").exists()

    # -- imports
    def rewrite_imports(self, resolve, dotted):
        """resolve(module, name) -> (module, name) or None if it stays; dotted: {old dotted: new dotted} for strings and modules"""
        changed = []
        keys = sorted(dotted, key=len, reverse=True)
        pat = re.compile(r"(?<![\w.])(" + "|".join(re.escape(k) for k in keys) + r")(?![\w])") if keys else None
        for path in self.py():
            text = path.read_text()
            if "delayer" not in text: continue
            new = self._rewrite(text, resolve)
            if pat:
                new = self._strings(new, pat, dotted)
            if new != text:
                path.write_text(new); changed.append(path)
        return changed
    def _strings(self, text, pat, dotted):
        # dotted names anywhere that is not an import line already rewritten: strings, docstrings, comments
        return pat.sub(lambda m: dotted[m[1]], text)
    def _rewrite(self, text, resolve):
        tree = ast.parse(text)
        lines = text.splitlines(keepends=True)
        edits = []
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and (node.module == "delayer" or node.module.startswith("delayer.")) and node.level == 0:
                groups = defaultdict(list); moved = False
                for a in node.names:
                    to = resolve(node.module, a.name)
                    if to is None:
                        groups[node.module].append((a.name, a.asname))
                    else:
                        moved = True
                        m, n = to
                        asname = a.asname
                        if n != a.name and asname is None: asname = a.name
                        if asname == n: asname = None
                        groups[m].append((n, asname))
                if not moved: continue
                ind = " " * node.col_offset
                tail = lines[node.end_lineno - 1][node.end_col_offset:].rstrip("\n") if node.lineno == node.end_lineno else ""
                noqa = {l[l.index("#"):].rstrip("\n") for l in lines[node.lineno-1:node.end_lineno] if "#" in l}
                out = ""
                for m, names in groups.items():
                    inner = ", ".join(n if not s else f"{n} as {s}" for n, s in names)
                    c = "  " + " ".join(sorted(noqa)) if noqa else ""
                    out += f"{ind}from {m} import {inner}{c}\n"
                edits.append((node.lineno - 1, node.end_lineno, out))
        for a, b, out in sorted(edits, reverse=True):
            lines[a:b] = [out]
        return "".join(lines)

    # -- names
    def segments(self, text, names=None):
        """top-level statements as (names, start line, end line), comments directly above included"""
        tree = ast.parse(text); lines = text.splitlines(keepends=True)
        out = []
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                ns = [node.name]; start = min([node.lineno] + [d.lineno for d in node.decorator_list])
            elif isinstance(node, ast.Assign):
                ns = [t.id for t in node.targets if isinstance(t, ast.Name)]; start = node.lineno
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                ns = [node.target.id]; start = node.lineno
            else:
                ns = []; start = node.lineno
            while start > 1 and lines[start - 2].lstrip().startswith("#") and not isinstance(node, (ast.Import, ast.ImportFrom)):
                start -= 1
            out.append((ns, start - 1, node.end_lineno, node))
        return out
    def imports_of(self, text):
        """name -> import statement text, for top-level imports"""
        res = {}
        for node in ast.parse(text).body:
            if isinstance(node, ast.ImportFrom):
                for a in node.names:
                    res[a.asname or a.name] = f"from {node.module} import {a.name}" + (f" as {a.asname}" if a.asname else "")
            elif isinstance(node, ast.Import):
                for a in node.names:
                    res[(a.asname or a.name).partition(".")[0]] = f"import {a.name}" + (f" as {a.asname}" if a.asname else "")
        return res
    def used(self, source):
        u = {n.id for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name)}
        for n in ast.walk(ast.parse(source)):  # names in string annotations
            if isinstance(n, ast.Constant) and isinstance(n.value, str) and re.fullmatch(r"[\w\[\], |.]+", n.value):
                u |= set(re.findall(r"\w+", n.value))
        return u
    def move_names(self, old, new, names, after_imports=False, docstring=None):
        po, pn = self.path(old), self.path(new)
        text = po.read_text(); lines = text.splitlines(keepends=True)
        segs = [s for s in self.segments(text) if set(s[0]) & set(names)]
        found = {n for s in segs for n in s[0]}
        assert set(names) <= found, set(names) - found
        cut = ""; const_parts = []
        for ns, a, b, node in segs:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and pn.exists():
                const_parts.append(lines[a:b]); continue
            sep = "\n\n" if not isinstance(node, (ast.Assign, ast.AnnAssign)) else ""
            cut += sep + "".join(lines[a:b]) + ("\n" if sep else "")
        for ns, a, b, node in reversed(segs):
            del lines[a:b]
        rest = "".join(lines)
        imports = self.imports_of(text)
        used = self.used(cut + "\n" + "".join("".join(l) for l in const_parts))
        if not pn.exists():
            pn.parent.mkdir(parents=True, exist_ok=True)
            pn.write_text(f'"""{docstring or ""}"""\n')
        target = pn.read_text()
        have = self.imports_of(target)
        local_old = {n for s in self.segments(rest) for n in s[0]}
        add = [imports[n] for n in sorted(used) if n in imports and n not in have]
        add += [f"from {old} import {n}" for n in sorted(used & local_old - found)]
        target_names = {n for s in self.segments(target) for n in s[0]}
        clash = target_names & found
        assert not clash, clash
        add = [l for l in add if not l.startswith(f"from {new} import")]
        consts = "".join("".join(l) for l in const_parts)
        target = self._with_constants(self._with_imports(target, add), consts) + "\n" + cut
        pn.write_text(self._without(target, new))
        # old file: uses of the moved names
        back = sorted(self.used(rest) & found)
        if back:
            rest = self._with_imports(rest, [f"from {new} import {n}" for n in back])
        po.write_text(rest)
        dotted = {f"{old}.{n}": f"{new}.{n}" for n in names}
        ch = self.rewrite_imports(lambda m, n: (new, n) if m == old and n in names else None, dotted)
        pn.write_text(self._without(pn.read_text(), new))
        self.tidy([po, pn, *ch])
        return ch
    def _without(self, text, mod):
        lines = text.splitlines(keepends=True)
        for node in reversed(ast.parse(text).body):
            if isinstance(node, ast.ImportFrom) and node.module == mod:
                del lines[node.lineno - 1:node.end_lineno]
        return "".join(lines)
    def _with_imports(self, text, add):
        if not add: return text
        tree = ast.parse(text); lines = text.splitlines(keepends=True)
        at = 0
        for node in tree.body:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node is tree.body[0]:
                at = node.end_lineno
            else: break
        head = [l + "\n" for l in add]
        lines[at:at] = ["\n"] + head + ([] if at < len(lines) and not lines[at].strip() else ["\n"])
        return "".join(lines)
    def _with_constants(self, text, consts):
        if not consts: return text
        lines = text.splitlines(keepends=True); at = None
        for ns, a, b, node in self.segments(text):
            if not isinstance(node, (ast.Import, ast.ImportFrom, ast.Expr, ast.If)):
                at = a; first = node; break
        if at is None: return text + "\n" + consts
        lines[at:at] = [consts] if isinstance(first, (ast.Assign, ast.AnnAssign)) else [consts + "\n\n"]
        return "".join(lines)
    def tidy(self, paths):
        ps = sorted({str(p) for p in paths if Path(p).exists()})
        if not ps: return
        ruff = str(self.root / ".venv/bin/ruff")
        subprocess.run([ruff, "check", "-q", "--select", "I,F401", "--fix", *ps], cwd=self.root)
        subprocess.run([ruff, "format", "-q", *ps], cwd=self.root)
    def move_module(self, old, new):
        po, pn = self.path(old), self.pkg / Path(*new.split(".")).with_suffix(".py")
        pn.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "mv", str(po), str(pn)], cwd=self.root, check=True)
        return self.moved({old: new})
    def moved(self, table):
        def resolve(m, n):
            if m in table: return table[m], n
            full = f"{m}.{n}"
            if full in table:
                parent, _, leaf = table[full].rpartition(".")
                return parent, leaf
            return None
        ch = self.rewrite_imports(resolve, dict(table))
        self.tidy(ch); return ch

def _merge(self, new, olds, doc, renames=None, header=""):
    """Merges modules into one, in the order given. renames: {(old_mod, name): new_name}"""
    renames = renames or {}
    imports, checking, bodies, seen = [], [], [], {}
    table = {o: new for o in olds}
    srcs = []
    for old in olds:
        p = self.path(old); text = p.read_text()
        for (m, n), to in renames.items():
            if m == old:
                text = re.sub(rf"(?<![\w.\"'=]){re.escape(n)}(?!\w)(?!\s*=[^=])", to, text) if False else self._rename(text, n, to)
        srcs.append((old, p, text))
    for old, p, text in srcs:
        tree = ast.parse(text); lines = text.splitlines(keepends=True)
        cut = 0
        for node in tree.body:
            if node is tree.body[0] and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                cut = node.end_lineno; continue
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imports.append("".join(lines[node.lineno - 1:node.end_lineno])); cut = max(cut, node.end_lineno); continue
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                checking += [ast.unparse(b) for b in node.body]; cut = max(cut, node.end_lineno); continue
            for n in [t for t in self.segments(text) if t[3].lineno == node.lineno][0][0]:
                assert n not in seen, f"{n} in {old} and {seen[n]}"
                seen[n] = old
        # the body: everything that is no import (imports may stand among it only at the top)
        spans = [(node.lineno - 1, node.end_lineno) for node in tree.body
                 if isinstance(node, (ast.Import, ast.ImportFrom)) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
                 or (node is tree.body[0] and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
        keep = [l for i, l in enumerate(lines) if not any(a <= i < b for a, b in spans)]
        bodies.append("".join(keep).strip("\n"))
    body = "\n\n\n".join(b for b in bodies if b)
    out = f'"""{doc}"""\n\n' + "".join(imports)
    if checking:
        out += "\nif TYPE_CHECKING:\n" + "".join(f"    {c}\n" for c in dict.fromkeys(checking))
    out += "\n\n" + body + "\n"
    # what they took from each other
    selfmods = {}
    res = ""
    tree = ast.parse(out); lines = out.splitlines(keepends=True)
    for node in reversed(tree.body):
        inner = node.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" else [node]
        for one in reversed(inner):
            if isinstance(one, ast.ImportFrom) and one.module in table:
                for a in one.names:
                    assert a.asname is None, (one.module, a.name, a.asname)
                del lines[one.lineno - 1:one.end_lineno]
            elif isinstance(one, ast.ImportFrom):
                keep = []
                for a in one.names:
                    if f"{one.module}.{a.name}" in table: selfmods[a.asname or a.name] = True
                    else: keep.append(a.name + (f" as {a.asname}" if a.asname else ""))
                if len(keep) != len(one.names):
                    ind = " " * one.col_offset
                    lines[one.lineno - 1:one.end_lineno] = [f"{ind}from {one.module} import {', '.join(keep)}\n"] if keep else []
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pass
    out = "".join(lines)
    out = re.sub(r"\nif TYPE_CHECKING:\n(?!    )", "\n", out)
    # function-level imports of each other
    def drop(text):
        tree = ast.parse(text); ls = text.splitlines(keepends=True)
        nodes = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module in table and n.col_offset > 0]
        for n in sorted(nodes, key=lambda n: -n.lineno):
            del ls[n.lineno - 1:n.end_lineno]
        return "".join(ls)
    out = drop(out)
    for m in selfmods:
        out = re.sub(rf"(?<![\w.\"]){m}\.(?=[A-Za-z_])", "", out)
    pn = self.pkg / Path(*new.split(".")).with_suffix(".py")
    pn.parent.mkdir(parents=True, exist_ok=True)
    first = srcs[0][1]
    if first != pn:
        subprocess.run(["git", "mv", "-f", str(first), str(pn)], cwd=self.root, check=True)
    for old, p, _ in srcs[1:]:
        if p.exists() and p != pn: subprocess.run(["git", "rm", "-qf", str(p)], cwd=self.root, check=True)
    pn.write_text(out)
    def resolve(m, n):
        if (m, n) in renames: return new, renames[m, n]
        if m in table: return new, n
        full = f"{m}.{n}"
        if full in table:
            parent, _, leaf = new.rpartition("."); return parent, leaf
        return None
    dotted = {o: new for o in olds if o != new}
    dotted |= {f"{m}.{n}": f"{new}.{to}" for (m, n), to in renames.items()}
    ch = self.rewrite_imports(resolve, dotted)
    pn.write_text(self._without(pn.read_text(), new))
    self.tidy([pn, *ch])
    return ch
def _rename(self, text, n, to):
    tree = ast.parse(text); lines = text.splitlines(keepends=True)
    spots = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == n: spots.append((node.lineno, node.col_offset))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == n and node.col_offset == 0:
            l = lines[node.lineno - 1]; spots.append((node.lineno, len(l[:l.index(n)].encode())))
    for ln, col in sorted(set(spots), reverse=True):
        b = lines[ln - 1].encode()
        assert b[col:col + len(n)] == n.encode(), (lines[ln-1], n)
        lines[ln - 1] = (b[:col] + to.encode() + b[col + len(n):]).decode()
    text = "".join(lines)
    return re.sub(rf'"{n}"(?=[\],)\]| \|])', f'"{to}"', text) if n[:1] != "_" else text
Repo.merge = _merge; Repo._rename = _rename
