import { type Command, Option } from 'commander'
import { manualAction } from '#scripts/cli/session/actor.ts'
import { announced } from '#scripts/cli/session/announced.ts'
import { withInstallation } from '#scripts/cli/session/installation.ts'
import { type OutputOptions, print, table } from '#scripts/cli/text/output.ts'
import { snakeCase } from '#scripts/cli/text/snake-case.ts'
import { apiKeyToWire } from '#services/admin/wire/api-key-wire.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import type { WorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { MODES, type Mode, SCOPES, type Scope, type WorkspaceStatus } from '#shared/domain/enumerations.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { issueApiKey } from '#shared/usecases/workspaces/issue-api-key.ts'
import { requireStatus } from '#shared/usecases/workspaces/require-status.ts'
import { revokeApiKey } from '#shared/usecases/workspaces/revoke-api-key.ts'

/** `all` or a comma-separated list; the error names an unknown scope and the known ones. */
function parseScopes(text: string): readonly Scope[] {
  if (text === 'all') return SCOPES
  return text.split(',').map((name) => {
    const scope = SCOPES.find((known) => known === name.trim())
    if (!scope) {
      throw new PaymeshError('VALIDATION_ERROR', {
        details: [{ path: 'scopes', message: `unknown scope "${name}"; known: all, ${SCOPES.join(', ')}` }],
      })
    }
    return scope
  })
}

const present = (key: ApiKeyRecord): object =>
  snakeCase({ workspaceId: key.workspaceId, ...apiKeyToWire(key) }) as object

/** `api-key create | revoke | list`. */
export function addApiKeyCommands(program: Command): void {
  const key = program.command('api-key').description('Create, revoke and list API keys.')
  key
    .command('create')
    .description(
      'Create an API key. It is printed once and never stored in plain text. Owners get an email about a live key.',
    )
    .requiredOption('--workspace <id>', 'workspace of the key')
    .addOption(new Option('--mode <mode>', 'live or test').choices(MODES).makeOptionMandatory())
    .option('--scopes <scopes>', 'all, or a comma-separated list', 'all')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions & { workspace: string; mode: Mode; scopes: string }) => {
      const scopes = parseScopes(options.scopes)
      await withInstallation(async (installation) => {
        const { workspace: workspaceId, mode } = options
        await requireWorkspace(installation, workspaceId, 'restricted')
        const action = manualAction(installation)
        const parts = { ...installation, ...announced(installation) }
        const { record, apiKey } = await issueApiKey(parts, { workspaceId, mode, scopes, action })
        print(
          options,
          { ...present(record), key: apiKey },
          `key ${record.id}
${apiKey}\nSave it now: it is not shown again.`,
        )
      })
    })
  key
    .command('revoke <keyId>')
    .description('Revoke an API key. It stops working immediately.')
    .option('--json', 'print one JSON value')
    .action(async (keyId: string, options: OutputOptions) => {
      await withInstallation(async (installation) => {
        const parts = { ...installation, ...announced(installation) }
        const revoked = await revokeApiKey(parts, { keyId, action: manualAction(installation) })
        print(options, present(revoked), `key ${revoked.id} is revoked`)
      })
    })
  key
    .command('list')
    .description('List API keys, without the keys themselves.')
    .option('--workspace <id>', 'only keys of this workspace')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions & { workspace?: string }) => {
      await withInstallation(async (installation) => {
        const found = await installation.apiKeys.list(options.workspace ?? null)
        const rows = found.map((item) => [
          item.id,
          item.mode,
          `…${item.last4}`,
          item.revokedAt === null ? 'active' : 'revoked',
          item.lastUsedAt === undefined ? 'never' : new Date(item.lastUsedAt).toISOString(),
          item.scopes.length === SCOPES.length ? 'all' : item.scopes.join(','),
        ])
        const head = ['ID', 'MODE', 'KEY', 'STATUS', 'LAST USED', 'SCOPES']
        print(options, found.map(present), table(head, rows, 'no keys'))
      })
    })
}

/**
 * The workspace that a command is about. `worksWhile` is the last status in which the command works, the same as for people at the dashboard.
 * Throws `NOT_FOUND`, `WORKSPACE_RESTRICTED` and `WORKSPACE_SUSPENDED`.
 */
async function requireWorkspace(
  { workspaces }: { readonly workspaces: Pick<WorkspaceRepository, 'findById'> },
  id: string,
  worksWhile: WorkspaceStatus,
): Promise<Workspace> {
  const workspace = await workspaces.findById(id)
  if (workspace === null) throw new PaymeshError('NOT_FOUND', { message: `Workspace ${id} not found.` })
  requireStatus(workspace, worksWhile)
  return workspace
}
