"""The scripts of docs/validations.md, taken from the page and run by a real gate."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.corpora import bundle
from support.docs import ROOT
from support.project import Project
from support.validations import make

_FILE = re.compile(
    r"^<!-- file: (?P<path>\S+) -->\n```\w+\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
PAGE = (ROOT / "docs" / "validations.md").read_text(encoding="utf-8")
TOOLS = {found["path"]: found["text"] for found in _FILE.finditer(PAGE)}
SCHEMA = """\
{"type": "object", "required": ["id", "tags"], "additionalProperties": false,
 "properties": {"id": {"type": "string", "pattern": "^UC-[0-9]+$"},
                "level": {"enum": ["must", "should"]},
                "tags": {"type": "array", "items": {"type": "string"}}}}
"""


def rules() -> str:
    """The validations of the page's own example, none of which blocks here."""
    [block] = re.findall(r"^      validations:\n((?:        - .*\n)+)", PAGE, re.MULTILINE)
    lines = [line.strip() for line in block.splitlines()]
    assert len(lines) == len(TOOLS) == 3
    return "\n".join(
        line if "on_error" in line else line.replace("}", ", on_error: warn}") for line in lines
    )


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    return make(tmp_path, home, rules(), {**TOOLS, "schemas/record.json": SCHEMA})


def messages(project: Project) -> dict[str, list[str]]:
    """What is said of each deliverable, once a gate is open on the work."""
    document = project.gate("open", "--json").ok().json
    assert document["findings"] == []
    return {one["path"]: one["messages"] for one in document["deliverables"] if one["messages"]}


def test_links(project: Project) -> None:
    page = """\
# Links
[good](other.md#part) [dead](gone.md) [web](https://example.com/x) [mail](mailto:a@b.c)
`[code](gone.md)` ``a ` [code](gone.md)`` ![picture](</img/a b.png>) [same](#links)
```
[fenced](gone.md)
```
[up](../../x.md) [top](/README.md) [encoded](a%20b.md) [forged](a%0Ab.md:1:%20error:%20x)

[ref]: missing.md "title"
[ref2]: <other.md>
"""
    project.commit("one", {"docs/page.md": page, "docs/other.md": "x\n", "docs/a b.md": "x\n"})
    found = project.gate("open", "--json").ok().json["deliverables"]
    said = next(one["messages"] for one in found if one["path"] == "docs/page.md")
    assert [text for text in said if "link" in text] == [
        "line 2: error: the link to gone.md leads to nothing",
        "line 3: error: the link to /img/a leads to nothing",
        "line 7: error: the link to ../../x.md leads to nothing",
        "line 7: error: the link to a%0Ab.md:1:%20error:%20x leads to nothing",
        "line 9: error: the link to missing.md leads to nothing",
    ]


def test_front_matter(project: Project) -> None:
    files = {
        "docs/good.md": "---\ntitle: A\nstatus: draft\n---\n# A\n",
        "docs/none.md": "# A\n---\ntitle: A\n---\n",
        "docs/empty.md": "",
        "docs/open.md": "---\ntitle: A\nstatus: draft\n# A\n",
        "docs/x=1.md": "---\ntitle:\nstatus: done\n---\n",
        "docs/less.md": "---\ntitle: A\n---\nstatus: draft\n",
        "other/none.md": "# A\n",
    }
    project.commit("one", files)
    no_front_matter = ["line 1: error: no front matter between two lines of ---"]
    assert messages(project) == {
        "docs/none.md": no_front_matter,
        "docs/empty.md": no_front_matter,
        "docs/open.md": no_front_matter,
        "docs/less.md": ["line 1: error: no status"],
        "docs/x=1.md": ["line 1: error: no title", "line 3: warning: unknown status done"],
    }


def test_a_schema_of_the_policy_commit(project: Project) -> None:
    files = {
        "records/good.json": '{"id": "UC-1", "tags": ["a"], "level": "must"}\n',
        "records/bad.json": '{"id": "UC-x", "tags": ["a", 1, true], "level": "may", "a\\nb": 1}\n',
        "records/text.json": '{\n"id": UC\n}\n',
        "records/list.json": "[]\n",
        "records/less.json": "{}\n",
        "schemas/record.json": "{}\n",
    }
    project.commit("one", files)
    assert messages(project) == {
        "records/bad.json": [
            "error: $.id does not match ^UC-[0-9]+$",
            "error: $.tags[1] is no string",
            "error: $.tags[2] is no string",
            "error: $.level is none of must, should",
            'error: $ has the unknown key "a\\nb"',
        ],
        "records/text.json": ["line 2: error: no JSON: Expecting value: line 2 column 7 (char 8)"],
        "records/list.json": ["error: $ is no object"],
        "records/less.json": ["error: $.id is missing", "error: $.tags is missing"],
    }


def test_a_script_that_crashes_has_not_looked(project: Project) -> None:
    project.commit("one", {"records/deep.json": "[" * 100_000 + "\n"})
    document = project.gate("open", "--json").ok().json
    [finding] = document["findings"]
    assert finding["level"] == "error"
    assert finding["text"].startswith("validation `schema` failed with exit status 2: RecursionErr")


def test_links_of_real_documents(project: Project) -> None:
    project.git("fetch", "--quiet", str(bundle("aiwg-requirements.bundle")), "main")
    project.git("merge", "--quiet", "--allow-unrelated-histories", "-m", "corpus", "FETCH_HEAD")
    document = project.gate("open", "--json").ok().json
    there = set(project.git("ls-files").out.splitlines())
    folders = {str(parent) for path in there for parent in Path(path).parents}
    found = 0
    for one in document["deliverables"]:
        lines = (project.top / one["path"]).read_text().split("\n")
        for finding in one["findings"]:
            found += 1
            target = finding["text"].removeprefix("the link to ").removesuffix(" leads to nothing")
            assert f"]({target}" in lines[finding["line"] - 1]
            place = Path(one["path"]).parent / target.partition("#")[0]
            assert str(place) not in there | folders
    assert found == document["context"]["validation_errors"] > 0
