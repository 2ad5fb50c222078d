"""The command `bank-sandbox completion`: what a shell needs to complete commands and options (choice 12)."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
PROGRAM, VARIABLE = "bank-sandbox", "_BANK_SANDBOX_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Prints the completion script of SHELL. For bash: eval "$(bank-sandbox completion bash)"."""
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(context.find_root().command, {}, PROGRAM, VARIABLE).source())
