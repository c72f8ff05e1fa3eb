#!/usr/bin/env python3
"""Which objects depend on each other in a circle: the strongly connected components of src/ by symbols.

    utils/components.py build/release       lists the components of more than one object, and why they are

An object depends on another one when it uses a symbol that the other one defines (nm). In a component every
object depends on every other one, directly or not: none of them can be understood, tested or replaced alone.
Calls through pointers do not count: a module that is given functions does not depend on the module that gave them.
"""
import subprocess
import sys
from collections import defaultdict
from pathlib import Path


def source_of(file):
    """The source of an object; a build folder may hold objects of sources that are no more."""
    return Path(__file__).resolve().parent.parent / "src" / file.with_suffix(".c")


def symbols(build):
    """(defined, undefined): {name: object}, {object: set of names}. Objects are named
    "module/file" or "module/family/file"."""
    root = Path(build) / "src"
    objects = sorted(path for path in root.glob("**/*.o") if source_of(path.relative_to(root)).is_file())
    lines = subprocess.run(["nm", "-A", "-P", *objects], capture_output=True, text=True, check=True).stdout
    defined, undefined = {}, defaultdict(set)
    for line in lines.splitlines():
        path, rest = line.split(": ", 1)
        name, kind = rest.split()[:2]
        file = str(Path(path).relative_to(root).with_suffix(""))
        if kind == "U":
            undefined[file].add(name)
        elif kind in "TDBRVWC" and not name.startswith("__") and name != "main":
            defined[name] = file  # "__": functions of the C library that the server replaces
    for file in objects:
        undefined[str(file.relative_to(root).with_suffix(""))]  # objects that use nothing
    return defined, undefined


def dependencies(build):
    """{object: {object it uses: set of symbols}}."""
    defined, undefined = symbols(build)
    uses = {file: defaultdict(set) for file in undefined}
    for file, names in undefined.items():
        for name in names:
            other = defined.get(name)
            if other and other != file:
                uses[file][other].add(name)
    return uses


def components(uses):
    """The strongly connected components, the largest first (Tarjan's algorithm, without recursion)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in uses:
        if root in index:
            continue
        work = [(root, iter(uses[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    found.append(sorted(stack[at:]))
                    on_stack.difference_update(stack[at:])
                    del stack[at:]
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(uses[following])))
            elif following in on_stack:
                low[node] = min(low[node], index[following])
    return sorted(found, key=len, reverse=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    uses = dependencies(sys.argv[1])
    for component in components(uses):
        if len(component) < 2:
            break
        print(f"{len(component)} objects: {' '.join(component)}")
        for file in component:
            for other in component:
                if uses[file].get(other):
                    print(f"    {file} -> {other}: {' '.join(sorted(uses[file][other]))}")


if __name__ == "__main__":
    main()
