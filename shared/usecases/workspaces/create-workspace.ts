import { QUARANTINE_DEFAULT_MS } from '#shared/domain/invoice/quote-window.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { Workspace, WorkspacePolicy } from '#shared/ports/workspaces.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { validEmail, validName } from './valid-name.ts'

/** The initial policy of every workspace. */
export const DEFAULT_POLICY: WorkspacePolicy = {
  toleranceBps: 0,
  lateGraceMs: 60 * 60_000,
  lateDriftBps: 200,
  depositBps: 500,
  newLifeMs: 24 * 3_600_000,
  quoteMs: 20 * 60_000,
  spreadBps: 0,
  quarantineMs: QUARANTINE_DEFAULT_MS,
  reservePercent: SCARCE.poolAddresses.budget.reservePercent,
  largeSumUsd: 100,
  arsSeries: 'crypto',
  reportingCurrency: 'USD',
  timeZone: '',
  confirmations: {},
  digestHour: 7,
  supportContact: '',
  brandColour: '',
  logo: null,
  requiresSecondFactor: false,
}

const DEFAULT_LIMITS: Workspace['limits'] = { invoicesPerMonth: null, paymentLinks: 10_000, webhookEndpoints: 100 }

/**
 * Creates an active workspace with default policy and limits; it can receive test payments at once, because test mode has a
 * built-in wallet. Stored with its audit row. Throws `VALIDATION_ERROR` for an empty name or an invalid e-mail address.
 */
export async function createWorkspace(
  deps: Uses<'workspaces' | 'clock' | 'random'>,
  input: {
    readonly name: string
    readonly ownerEmail: string
    /** Actor as named in the audit log. */
    readonly actor: string
  },
): Promise<Workspace> {
  const workspace: Workspace = {
    id: deps.random.uuid(),
    name: validName(input.name),
    ownerEmail: validEmail(input.ownerEmail),
    status: 'active',
    limits: DEFAULT_LIMITS,
    policy: DEFAULT_POLICY,
    epoch: 0,
    createdAt: deps.clock.now(),
  }
  const { id, name, ownerEmail, createdAt: at } = workspace
  const about = { action: 'workspace.created' as const, subject: id, workspaceId: id, mode: null }
  const detail = { name, owner_email: ownerEmail }
  await deps.workspaces.insert(workspace, { id: `workspace-created:${id}`, at, actor: input.actor, ...about, detail })
  return workspace
}
