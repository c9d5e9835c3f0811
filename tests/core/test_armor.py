"""The one spelling of a signature's armor."""

from __future__ import annotations

import base64

import pytest

from gitgate.core.armor import MAX_ARMOR, Defect, DefectKind, Format, check_armor


def wrap(text: str, columns: int) -> str:
    return "".join(text[at : at + columns] + "\n" for at in range(0, len(text), columns))


DATA = base64.b64encode(bytes(range(200)) + b"tail!").decode()
SSH = f"-----BEGIN SSH SIGNATURE-----\n{wrap(DATA, 70)}-----END SSH SIGNATURE-----\n"
PGP = f"-----BEGIN PGP SIGNATURE-----\n\n{wrap(DATA, 64)}=jotk\n-----END PGP SIGNATURE-----\n"
CMS = f"-----BEGIN SIGNED MESSAGE-----\n{wrap(DATA, 64)}-----END SIGNED MESSAGE-----\n"


@pytest.mark.parametrize(
    ("armor", "kind"), [(SSH, Format.SSH), (PGP, Format.OPENPGP), (CMS, Format.X509)]
)
def test_a_canonical_armor_tells_its_format(armor: str, kind: Format) -> None:
    assert check_armor(armor.encode()) is kind


@pytest.mark.parametrize(
    "armor",
    [
        PGP.replace("\n\n", "\nVersion: GnuPG v2\nComment: made by hand\n\n", 1),
        PGP.replace("=jotk\n", ""),
    ],
)
def test_what_programs_may_choose_themselves(armor: str) -> None:
    check_armor(armor.encode())


BROKEN = {
    "no newline at the end": SSH[:-1],
    "an unknown label": SSH.replace("SSH", "ASH"),
    "a PGP message": PGP.replace("SIGNATURE", "MESSAGE"),
    "a longer first line": SSH.replace("-----\n", "------\n", 1),
    "no last line": SSH.replace("-----END SSH SIGNATURE-----\n", ""),
    "another last line": SSH.replace("END SSH", "END PGP"),
    "a blank behind the last line": SSH[:-1] + " \n",
    "CRLF": SSH.replace("\n", "\r\n"),
    "lines of 76": SSH.replace(wrap(DATA, 70), wrap(DATA, 76)),
    "one line": SSH.replace(wrap(DATA, 70), DATA + "\n"),
    "an empty line": SSH.replace("-----\n", "-----\n\n", 1),
    "nothing": "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n",
    "no padding": SSH.replace("==", ""),
    "bits behind the padding": SSH.replace("IQ==", "IR=="),
    "padding inside": SSH.replace("AAEC", "AA=="),
    "a character that is none": SSH.replace("AAEC", "AA!C"),
    "a blank in the data": SSH.replace("AAEC", "AA C"),
    "a letter that is not ASCII": SSH.replace("AAEC", "AAÄC"),
    "headers in SSH": SSH.replace("-----\n", "-----\nComment: a\n\n", 1),
    "no blank line": PGP.replace("\n\n", "\n", 1),
    "two blank lines": PGP.replace("\n\n", "\n\n\n", 1),
    "a header that ends in a blank": PGP.replace("\n\n", "\nComment: \n\n", 1),
    "a header that is none": PGP.replace("\n\n", "\nComment\n\n", 1),
    "a wrong checksum": PGP.replace("=jotk", "=jotl"),
    "only a checksum": "-----BEGIN PGP SIGNATURE-----\n\n=twTO\n-----END PGP SIGNATURE-----\n",
    "lines of 76 in PGP": PGP.replace(wrap(DATA, 64), wrap(DATA, 76)),
    "lines of 32 in x509": CMS.replace(wrap(DATA, 64), wrap(DATA, 32)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_another_spelling_is_a_defect(name: str) -> None:
    assert BROKEN[name] not in (SSH, PGP, CMS)
    with pytest.raises(Defect) as caught:
        check_armor(BROKEN[name].encode())
    assert caught.value.kind is DefectKind.ARMOR_ENCODING


@pytest.mark.parametrize(
    ("rest", "kind"),
    [
        (SSH, DefectKind.TWO_ARMORS),
        ("\n" + CMS, DefectKind.TWO_ARMORS),
        ("\n", DefectKind.TEXT_AFTER_ARMOR),
        ("Action: approve\n", DefectKind.TEXT_AFTER_ARMOR),
    ],
)
def test_nothing_follows_the_armor(rest: str, kind: DefectKind) -> None:
    for armor in (SSH, PGP, CMS):
        with pytest.raises(Defect) as caught:
            check_armor((armor + rest).encode())
        assert caught.value.kind is kind


def test_a_huge_armor_is_not_decoded() -> None:
    with pytest.raises(Defect, match="larger than 64 KiB") as caught:
        check_armor(SSH.encode() + b"A" * MAX_ARMOR)
    assert caught.value.kind is DefectKind.TOO_LARGE
