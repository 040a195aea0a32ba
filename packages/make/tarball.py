"""The archive for whoever wants no package manager: the program, and what may be copied beside it."""

from .archive import File, tar_gz
from .contents import COMPLETIONS


def make(contents):
    """The archive's name and content. All is in one folder."""
    folder = f"forebay-{contents.version}-{contents.platform.archive}"
    files = [File(f"{folder}/{contents.platform.program}", contents.program, 0o755)]
    files += contents.documents_in(folder)
    files += [File(f"{folder}/man/man1/{name}", page) for name, page in contents.manual.items()]
    files += [
        File(f"{folder}/completions/{COMPLETIONS[shell]}", text)
        for shell, text in contents.completions.items()
    ]
    return {f"{folder}.tar.gz": tar_gz(files)}
