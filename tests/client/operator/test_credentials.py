"""With which credentials a stack is operated."""

from pathlib import Path

import pytest

from delayer_client.cli.exits import Exit
from delayer_client.cli.refusals import status_of
from delayer_client.operator import NoCredentials, OperatorStack, find_credentials
from delayer_client.operator.credentials import local_port, region_in
from delayer_client.operator.errors import WrongSetting
from delayer_client.transport.proxies import is_here
from local.key_pair import KeyPair, write_exports

AWS_URL = "https://abc123.execute-api.eu-central-1.amazonaws.com"
HERE = "http://localhost:8080"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Below the one in which `make local-aws` runs."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    return inner


def exported(tmp_path: Path, endpoint: str = "http://127.0.0.1:8081") -> KeyPair:
    pair = KeyPair.new()
    write_exports(tmp_path / ".local" / "8080", pair, endpoint)
    return pair


@pytest.mark.parametrize("url", [HERE, "http://127.0.0.1:8080/", "http://[::1]:8080"])
def test_on_one_machine_they_are_what_make_local_has_written(tmp_path: Path, folder: Path, url: str) -> None:
    """In the folder or in one above it; the user's own settings are not mixed in."""
    pair = exported(tmp_path)
    found = find_credentials(url, folder=folder)
    keys = found.session.get_credentials()
    assert keys is not None
    assert (keys.access_key, keys.secret_key, keys.token) == (pair.access_key_id, pair.secret_access_key, None)
    assert (found.endpoint_url, found.region, found.is_local) == ("http://127.0.0.1:8081", "us-east-1", True)
    assert found.client("sqs").meta.endpoint_url == "http://127.0.0.1:8081"
    assert found.client("sqs") is found.client("sqs")


def test_without_the_file_a_real_account_is_not_asked(folder: Path) -> None:
    """AWS credentials are there, but the URL is of this machine."""
    with pytest.raises(NoCredentials, match=r"no file \.local/8080/aws\.env.*make local-aws PORT=8080"):
        find_credentials(HERE, folder=folder)


def test_a_file_that_leads_away_is_not_followed(tmp_path: Path, folder: Path) -> None:
    exported(tmp_path, "https://sqs.eu-west-1.example.com")
    with pytest.raises(NoCredentials):
        find_credentials(HERE, folder=folder)


def test_a_shell_that_knows_the_emulator(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:8081")
    found = find_credentials(HERE, folder=folder)
    assert (found.endpoint_url, found.region) == ("http://127.0.0.1:8081", "eu-west-1")


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:22101", "http://localhost:8080", "http://127.0.0.1"])
def test_a_shell_that_knows_the_emulator_of_another_port(
    monkeypatch: pytest.MonkeyPatch, folder: Path, endpoint: str
) -> None:
    """Commands would reach another stack than the URL names."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with pytest.raises(NoCredentials, match=f"{endpoint}, which is not of this port"):
        find_credentials(HERE, folder=folder)


@pytest.mark.parametrize("url", [AWS_URL, "https://me:secret@delayer.example.com"])
def test_a_shell_that_knows_an_emulator_operates_nothing_elsewhere(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:8081")
    with pytest.raises(NoCredentials, match="unset AWS_ENDPOINT_URL") as refused:
        find_credentials(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("url", [HERE, ""])
@pytest.mark.parametrize("of_an_account", ["AWS_PROFILE", "AWS_SESSION_TOKEN", "profile", "no keys"])
def test_credentials_of_an_account_are_not_used_on_this_machine(
    monkeypatch: pytest.MonkeyPatch, folder: Path, url: str, of_an_account: str
) -> None:
    """What listens there would see what is signed with them."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:8081")
    profile = "work" if of_an_account == "profile" else ""
    if of_an_account.startswith("AWS_"):
        monkeypatch.setenv(of_an_account, "work")
    elif not profile:
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(NoCredentials, match=r"credentials of an account are not used.*aws\.env"):
        find_credentials(url, folder=folder, profile=profile)


def test_an_endpoint_of_one_service_does_not_lead_them_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", "http://127.0.0.1:8081")
    found = find_credentials(AWS_URL)
    assert found.client("sqs").meta.endpoint_url.endswith(".amazonaws.com")
    with pytest.raises(NoCredentials, match=r"lambda to http://127\.0\.0\.1:8081"):
        found.client("lambda")


def test_on_aws_they_are_those_of_boto3(folder: Path) -> None:
    found = find_credentials(AWS_URL, folder=folder)
    keys = found.session.get_credentials()
    assert keys is not None
    assert (keys.access_key, found.region, found.is_local) == ("test", "eu-central-1", False)
    assert find_credentials(folder=folder).region == "eu-west-1", "without a URL that of the configuration"
    assert find_credentials(AWS_URL, region="us-east-2").region == "us-east-2"


@pytest.mark.parametrize(
    ("region", "endpoint"), [("eu west", ""), ("eu-west-1", "sqs.example.com"), ("eu-west-1", "http://localhost:abc")]
)
def test_what_cannot_be_a_region_or_an_endpoint(monkeypatch: pytest.MonkeyPatch, region: str, endpoint: str) -> None:
    """It is no defect, and the user can mend it."""
    if endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with pytest.raises(
        WrongSetting, match=r"eu west.*--aws-region|sqs\.example\.com.*AWS_ENDPOINT_URL|no address"
    ) as refused:
        find_credentials(region=region).client("lambda")
    assert status_of(refused.value) == Exit.USAGE


def test_without_any_it_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    with pytest.raises(NoCredentials, match=r"no AWS credentials.*AWS_PROFILE"):
        OperatorStack.find(AWS_URL)
    with pytest.raises(NoCredentials, match=r"cannot be used.*nobody"):
        OperatorStack.find(AWS_URL, profile="nobody")


def test_without_a_region_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(NoCredentials, match="region is not known"):
        find_credentials("https://delayer.example.com")


@pytest.mark.parametrize(
    ("url", "region", "port"),
    [
        (AWS_URL, "eu-central-1", 0),
        (AWS_URL + "/", "eu-central-1", 0),
        ("https://abc.execute-api.cn-north-1.amazonaws.com.cn", "cn-north-1", 0),
        ("https://abc.execute-api.eu-central-1.amazonaws.com.evil.example", "", 0),
        ("https://delayer.example.com", "", 0),
        ("http://localhost", "", 80),
        ("https://localhost", "", 443),
        (HERE, "", 8080),
        ("http://localhost.example.com:8080", "", 0),
    ],
)
def test_what_is_read_from_a_url(url: str, region: str, port: int) -> None:
    assert (region_in(url), local_port(url)) == (region, port)
    assert is_here(url) == bool(port)
