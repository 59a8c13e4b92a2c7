"""``asc completion``: the script with which a shell completes commands, options, query ids and streams."""

from __future__ import annotations

import click

from cli.command import Command, examples

SHELLS = ("bash", "zsh", "fish")

_BASH = """\
_asc_completion() {
    local line="${COMP_LINE:0:COMP_POINT}" type value
    COMPREPLY=()
    [[ $line == *[[:space:]] ]] && line+="''"
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(COMP_WORDS="$line" COMP_CWORD=-1 _ASC_COMPLETE=bash_complete "${1/#\\~/$HOME}" 2> /dev/null)
}
complete -o nosort -F _asc_completion asc
"""
"""The completion script for bash, in place of Click's script. Bash splits the command line at every colon, and Click's
script uses the resulting words, so that the value of --server becomes several words. This script passes the line to
Click, which splits it by the rules of a shell and completes the last word.
"""


@click.command(
    cls=Command,
    epilog=examples(
        "asc completion bash >> ~/.bashrc",
        "asc completion zsh >> ~/.zshrc",
        "asc completion fish > ~/.config/fish/completions/asc.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands, options, query IDs and streams in a shell.

    The examples install it, for the shells that are started from then on: bash of 4.4 or later, zsh where compinit is
    called before, fish. IDs and streams are asked of the daemon that --server or ASC_SERVER name, for a second at
    most; where none answers, nothing is suggested.
    """
    if shell == "bash":
        click.echo(_BASH, nl=False)
        return
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "asc", "_ASC_COMPLETE").source(), nl=False)
