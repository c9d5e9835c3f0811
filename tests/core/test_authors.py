"""Whose work is under review: addresses, signatures and trailers become people."""

from __future__ import annotations

import pytest
from support.verdicts import author, identity, policy, signers

from gitgate.core.authors import Authors, co_authors, who_made_it
from gitgate.core.people import People
from gitgate.core.person import Person


def people(*lines: str, more: str = "") -> People:
    return People(policy(more=more), signers(*(lines or ("ada@example.com", "bob@example.com"))))


def test_an_address_is_a_person_of_the_signers_file_in_any_case() -> None:
    everybody = people("ada@example.com,lovelace@example.org", "bob@example.com")
    found = who_made_it(
        [author("LOVELACE@Example.org", "wrote 1"), author("Bob@example.com", "committed 1")],
        everybody,
    )
    assert found == Authors(
        {"ada@example.com": "wrote 1", "bob@example.com": "committed 1"}, (), ()
    )


def test_the_first_thing_that_somebody_did_is_told() -> None:
    found = who_made_it([author("ada", "wrote 1"), author("ada", "committed 2")], people())
    assert found.people == {"ada@example.com": "wrote 1"}


def test_a_good_signature_says_more_than_an_address() -> None:
    """Somebody who commits under another name, a bot's or a colleague's, is who the key says."""
    for address in ("stranger@example.net", "agent@example.com", "bob"):
        everybody = people(more="bots: [agent@example.com]")
        found = who_made_it([author(address, "committed 1", signer="ada@example.com")], everybody)
        assert found == Authors({"ada@example.com": "committed 1"}, (), ())


def test_bots_are_nobody_and_are_shown() -> None:
    everybody = people(more="bots: [agent@example.com, Noreply@GitHub.com]")
    found = who_made_it(
        [author("AGENT@example.com"), author("noreply@github.com"), author("AGENT@example.com")],
        everybody,
    )
    assert found == Authors({}, ("AGENT@example.com", "noreply@github.com"), ())


def test_a_person_who_is_also_listed_as_a_bot_stays_a_person() -> None:
    found = who_made_it([author("ada", "wrote 1")], people(more="bots: [ada@example.com]"))
    assert found == Authors({"ada@example.com": "wrote 1"}, (), ())


def test_whoever_is_neither_is_unknown_and_named_with_what_they_did() -> None:
    found = who_made_it(
        [author("eve@example.net", "wrote 1"), author("eve@example.net", "committed 1")], people()
    )
    assert found == Authors({}, (), (("Someone <eve@example.net>", "wrote 1"),))


def test_a_person_by_an_openpgp_key_alone_is_known() -> None:
    key = "0123456789ABCDEF0123456789ABCDEF01234567"
    everybody = people(more=f"openpgp: {{Grace@example.com: [{key}]}}")
    found = who_made_it([author("grace@EXAMPLE.com", "wrote 1")], everybody)
    assert found.people == {"Grace@example.com": "wrote 1"}
    assert everybody.everyone == {"ada@example.com", "bob@example.com", "Grace@example.com"}


def test_an_address_of_two_people_is_nobody() -> None:
    everybody = people("ada@example.com,shared@example.com", "bob@example.com,shared@example.com")
    found = who_made_it([author("shared@example.com")], everybody)
    assert found.people == {}
    assert [who for who, _ in found.unknown] == [str(identity("shared@example.com"))]


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("One\n\nCo-authored-by: Ada Lovelace <ada@example.com>\n", ["ada@example.com"]),
        ("One\n\nco-AUTHORED-by:ada<ada@example.com>", ["ada@example.com"]),
        ("Co-authored-by: A <a@x>\nCo-authored-by: B <b@x>\n\nno trailers\n", ["a@x", "b@x"]),
        ("One\n\nCo-authored-by: A <a@x> and friends\n", ["a@x"]),
        ("One\n\nCo-authored-by:\t A\t <a@x>\n", ["a@x"]),
        ("One\n\nCo-authored-by: nobody\n", []),
        ("One\n\n> Co-authored-by: A <a@x>\n", []),
        ("One\n\nCo-authored-by: A <a@x\n>\n", []),
        ("One\n\nSigned-off-by: A <a@x>\n", []),
        ("", []),
    ],
)
def test_co_authors_are_read_anywhere_in_a_message(message: str, found: list[str]) -> None:
    assert [one.email for one in co_authors(message)] == found


def test_the_name_of_a_co_author_comes_without_blanks_around_it() -> None:
    assert co_authors("Co-authored-by:   Ada Lovelace  <ada@example.com>") == (
        Person("Ada Lovelace", "ada@example.com"),
    )
