"""What a platform is called by each of those that a package is for."""

from dataclasses import dataclass

# The program needs no newer glibc than this. DuckDB's prebuilt library needs no older one.
GLIBC = (2, 25)
_MANYLINUX = f"manylinux_{GLIBC[0]}_{GLIBC[1]}"


@dataclass(frozen=True)
class Platform:
    """One target of Rust, and its names elsewhere."""

    # As Rust says it.
    target: str
    # In the name of the archive.
    archive: str
    # For npm: `process.platform` and `process.arch`.
    node: tuple[str, str]
    # The tag of a wheel.
    wheel: str
    # Debian's name for the processor, where there is a Debian package.
    debian: str | None

    @property
    def is_linux(self):
        return self.node[0] == "linux"

    @property
    def program(self):
        return "forebay.exe" if self.node[0] == "win32" else "forebay"


PLATFORMS = {
    platform.target: platform
    for platform in [
        Platform(
            "x86_64-unknown-linux-gnu", "x86_64-linux", ("linux", "x64"), f"{_MANYLINUX}_x86_64", "amd64"
        ),
        Platform(
            "aarch64-unknown-linux-gnu", "aarch64-linux", ("linux", "arm64"), f"{_MANYLINUX}_aarch64", "arm64"
        ),
        Platform("aarch64-apple-darwin", "aarch64-macos", ("darwin", "arm64"), "macosx_11_0_arm64", None),
        Platform("x86_64-apple-darwin", "x86_64-macos", ("darwin", "x64"), "macosx_11_0_x86_64", None),
        Platform("x86_64-pc-windows-msvc", "x86_64-windows", ("win32", "x64"), "win_amd64", None),
    ]
}
