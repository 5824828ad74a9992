import type { Command } from 'commander'
import { closeException } from '#shared/usecases/exceptions/close-exception.ts'
import { actorName } from './session/actor.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print, table } from './text/output.ts'
import { snakeCase } from './text/snake-case.ts'

async function list(options: OutputOptions & { readonly workspace?: string }): Promise<void> {
  await withInstallation(async (installation) => {
    const open = await installation.exceptions.listOpen(options.workspace ?? null)
    const rows = open.map(({ id, kind, openedAt, workspaceId, invoiceId, detail }) => [
      kind,
      new Date(openedAt).toISOString(),
      workspaceId ?? 'operators',
      invoiceId ?? '-',
      detail,
      id,
    ])
    print(
      options,
      snakeCase(open),
      table(['KIND', 'OPENED', 'WORKSPACE', 'INVOICE', 'WHAT', 'ID'], rows, 'no open exceptions'),
    )
  })
}

async function close(id: string, options: OutputOptions & { readonly dryRun?: boolean }): Promise<void> {
  await withInstallation(async (installation) => {
    const dryRun = options.dryRun ?? false
    const { exception, changed } = await closeException(installation, { id, dryRun, actor: actorName() })
    const text = !changed
      ? `exception ${id} is already closed; no changes were made`
      : dryRun
        ? `exception ${id} would be closed; no changes were made`
        : `exception ${id} is closed`
    print(options, { ...Object(snakeCase(exception)), changed: changed && !dryRun, dry_run: dryRun }, text)
  })
}

/** `exception list | close`. */
export function addExceptionCommands(program: Command): void {
  const exceptions = program
    .command('exception')
    .description('Open exceptions: payments and invoices that need a decision.')
  exceptions
    .command('list')
    .description('List open exceptions, newest first.')
    .option('--workspace <id>', 'only of this workspace')
    .option('--json', 'print one JSON value')
    .action(list)
  exceptions
    .command('close <id>')
    .description('Close an exception. Its payment and invoice stay as they are. Saved in the audit log.')
    .option('--dry-run', 'show what would change and change nothing')
    .option('--json', 'print one JSON value')
    .action(close)
}
