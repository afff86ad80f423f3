"""The files around a release agree with the sources and with one another."""

import re
import tomllib

import pytest

import setatoms

yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def load_yaml(path):
    if not path.is_file():
        pytest.skip(f"{path.name} is not part of the source archive")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_change_log_begins_with_unreleased_and_this_version(root):
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    first, second = re.findall(r"^## (.+)$", text, re.MULTILINE)[:2]
    assert first == "Unreleased"
    assert re.fullmatch(rf"{re.escape(setatoms.__version__)} - \d{{4}}-\d\d-\d\d", second)


def test_the_citation_has_version_and_date_of_the_change_log(root):
    citation = load_yaml(root / "CITATION.cff")
    assert str(citation["version"]) == setatoms.__version__
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {citation['version']} - {citation['date-released']}" in text


def test_the_recipe_has_version_and_dependencies_of_the_project(root, project):
    recipe = load_yaml(root / "recipe" / "recipe.yaml")
    assert recipe["context"]["version"] == setatoms.__version__
    assert project["requires-python"] == f">={recipe['context']['python_min']}"
    # conda calls it so
    run = {
        r.replace(" ", "").replace("python-duckdb", "duckdb") for r in recipe["requirements"]["run"]
    }
    assert run >= {*project["dependencies"], *project["optional-dependencies"]["cli"]}


@pytest.mark.parametrize("name", ["tests", "docs", "publish"])
def test_workflows_are_given_no_more_rights_than_they_need(name, root):
    workflow = load_yaml(root / ".github" / "workflows" / f"{name}.yml")
    assert workflow["permissions"] == {"contents": "read"}
    rights = {job: facts.get("permissions") for job, facts in workflow["jobs"].items()}
    assert {job for job, given in rights.items() if given} <= {"publish"}


def test_the_tests_run_on_every_python_that_the_project_names(root, project):
    matrix = load_yaml(root / ".github" / "workflows" / "tests.yml")["jobs"]["tests"]["strategy"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert set(named) <= set(matrix["matrix"]["python"])


def test_targets_that_workflows_make_exist(root):
    if not (root / "Makefile").is_file():
        pytest.skip("no Makefile")
    made = re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    checks = load_yaml(root / ".github" / "workflows" / "tests.yml")["jobs"]["checks"]["strategy"]
    assert set(checks["matrix"]["target"]) <= set(made)
