import { type Command, InvalidArgumentError, Option } from 'commander'
import { type GivenConfirmations, parseConfirmations } from '#shared/contracts/confirmation-text.ts'
import { WORKSPACE_STATUSES } from '#shared/domain/enumerations.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { RESERVE_PERCENT_MAX } from '#shared/usecases/quotes/visitor-budget.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { settingsAudit } from '#shared/usecases/workspaces/settings-audit.ts'
import { updateWorkspace } from '#shared/usecases/workspaces/update-workspace.ts'
import { actorName, manualAction } from './session/actor.ts'
import { announced } from './session/announced.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print, table } from './text/output.ts'
import { snakeCase } from './text/snake-case.ts'
import { wholeNumber } from './text/whole-number.ts'

/** A limit on the command line; commander would turn a null into an empty text. */
type GivenLimit = number | 'none'

function parseLimit(text: string): GivenLimit {
  if (text === 'none') return text
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('must be a whole number or "none"')
  return Number(text)
}

function limitOf(given: GivenLimit): number | null {
  return given === 'none' ? null : given
}

function present(workspace: Workspace): object {
  return {
    id: workspace.id,
    name: workspace.name,
    owner_email: workspace.ownerEmail,
    status: workspace.status,
    invoices_per_month: workspace.limits.invoicesPerMonth,
    payment_links: workspace.limits.paymentLinks,
    webhook_endpoints: workspace.limits.webhookEndpoints,
    reserve_percent: workspace.policy.reservePercent,
    confirmations: snakeCase(workspace.policy.confirmations),
    created_at: new Date(workspace.createdAt).toISOString(),
  }
}

const DAY_MS = 86_400_000

/** How long only exact amounts settle the next invoice on a pooled address: at least a day. */
const parseDays = wholeNumber(/^\d{1,3}$/, 'must be a whole number of days from 1 to 999', { min: 1 })

const parsePercent = wholeNumber(/^\d{1,2}$/, `must be a whole number from 0 to ${RESERVE_PERCENT_MAX}`, {
  max: RESERVE_PERCENT_MAX,
})

type ConfirmationsByAsset = Readonly<Record<string, GivenConfirmations | null>>

/** One `asset=value`, added to the previous ones; the workspace checks whether it fits the asset. */
function addConfirmations(text: string, before: ConfirmationsByAsset = {}): ConfirmationsByAsset {
  const [, asset = '', value = ''] = /^([a-z0-9_]+)=(.+)$/.exec(text) ?? []
  const given = value === 'default' ? null : parseConfirmations(value)
  if (asset === '' || (given === null && value !== 'default')) {
    throw new InvalidArgumentError(
      'must be ASSET=NUMBER, ASSET=finalized, ASSET=default or tiers by US dollars, such as "btc_bitcoin=1, 100: 2, 10000: 6"',
    )
  }
  return { ...before, [asset]: given }
}

interface UpdateOptions extends OutputOptions {
  readonly status?: Workspace['status']
  readonly invoicesPerMonth?: GivenLimit
  readonly paymentLinks?: GivenLimit
  readonly webhookEndpoints?: GivenLimit
  readonly quarantineDays?: number
  readonly reservePercent?: number
  readonly confirmations?: ConfirmationsByAsset
}

async function update(id: string, options: UpdateOptions): Promise<void> {
  const { status, invoicesPerMonth, paymentLinks, webhookEndpoints, quarantineDays, reservePercent, confirmations } =
    options
  await withInstallation(async (installation) => {
    const policy = {
      ...(quarantineDays !== undefined && { quarantineMs: quarantineDays * DAY_MS }),
      ...(reservePercent !== undefined && { reservePercent }),
      ...(confirmations !== undefined && { confirmations }),
    }
    const limits = {
      ...(invoicesPerMonth !== undefined && { invoicesPerMonth: limitOf(invoicesPerMonth) }),
      ...(paymentLinks !== undefined && { paymentLinks: limitOf(paymentLinks) }),
      ...(webhookEndpoints !== undefined && { webhookEndpoints: limitOf(webhookEndpoints) }),
    }
    const change = {
      ...(status !== undefined && { status }),
      ...(Object.keys(policy).length > 0 && { policy }),
      ...(Object.keys(limits).length > 0 && { limits }),
    }
    const action = manualAction(installation)
    const audit = settingsAudit(installation, `settings:${id}:${action.opId}`, { workspaceId: id, change, action })
    const changed = await updateWorkspace(
      { ...installation, ...announced(installation) },
      { workspaceId: id, change, audit },
    )
    print(options, present(changed), `workspace ${changed.id} is ${changed.status}`)
  })
}

/** `workspace create | update | list`. */
export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('Create, change and list workspaces (merchant accounts).')
  workspace
    .command('create')
    .description('Create a workspace. It can receive test payments immediately.')
    .requiredOption('--name <name>', 'name of the merchant')
    .requiredOption('--owner-email <email>', 'email address for alerts')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions & { name: string; ownerEmail: string }) => {
      await withInstallation(async (installation) => {
        const { name, ownerEmail } = options
        const created = await createWorkspace(installation, { name, ownerEmail, actor: actorName() })
        print(options, present(created), `workspace ${created.id} (${created.name}) created`)
      })
    })
  workspace
    .command('update <id>')
    .description('Change the status, the plan limits or the policy of a workspace.')
    .addOption(new Option('--status <status>', 'new status').choices(WORKSPACE_STATUSES))
    .option('--invoices-per-month <n>', 'limit per calendar month (UTC) and mode, or "none"', parseLimit)
    .option('--payment-links <n>', 'limit of active payment links, or "none"', parseLimit)
    .option('--webhook-endpoints <n>', 'limit of webhook endpoints, or "none"', parseLimit)
    .option(
      '--quarantine-days <n>',
      'how long to match only exact amounts after a pool address moves to a new invoice',
      parseDays,
    )
    .option(
      '--reserve-percent <n>',
      'share of each pool and of the monthly plan reserved for the API, not available to visitors of payment links',
      parsePercent,
    )
    .option(
      '--confirmations <asset=n>',
      'for new invoices: a number, "finalized", tiers by US dollars ("1, 100: 2, 10000: 6") or "default"; repeatable',
      addConfirmations,
    )
    .option('--json', 'print one JSON value')
    .action(update)
  workspace
    .command('list')
    .description('List all workspaces.')
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions) => {
      await withInstallation(async (installation) => {
        const found = await installation.workspaces.list()
        const rows = found.map((item) => [item.id, item.status, item.name, item.ownerEmail])
        print(options, found.map(present), table(['ID', 'STATUS', 'NAME', 'OWNER'], rows, 'no workspaces'))
      })
    })
}
