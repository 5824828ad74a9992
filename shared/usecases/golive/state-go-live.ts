import { PaymeshError } from '#shared/contracts/errors.ts'
import type { GoLiveResult } from '#shared/domain/golive/go-live.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { GoLiveScope } from '#shared/ports/go-live.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { MailRecord } from '#shared/ports/mails.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { openKeyMaterial } from '#shared/usecases/wallets/key-material.ts'
import type { GoLiveDeps } from './go-live-deps.ts'
import { type GoLiveItem, readGoLiveFacts } from './go-live-items.ts'
import { COMPARED_INDEX } from './read-go-live.ts'

/**
 * Compares the address that a person's own wallet shows with the one that Paymesh derives; the address is never shown before. For listed
 * addresses it has to be one of the list. Either result is stored with its audit row. Returns whether it is the same. Throws
 * `NOT_FOUND` for a wallet that does not receive in this workspace and mode, and `VALIDATION_ERROR` for a text that is no address.
 */
export async function confirmAddress(
  deps: GoLiveDeps,
  scope: GoLiveScope,
  input: { readonly walletId: string; readonly address: string } & OperatorAction,
): Promise<boolean> {
  const item = `address:${input.walletId}`
  const entry = await findItem(deps, scope, item)
  const material = await deps.wallets.findMaterial(entry.wallet?.materialId ?? '')
  if (material === null) throw new PaymeshError('NOT_FOUND')
  const [given] = deps.addressBook.parseAddresses(material.family, input.address.trim()).addresses
  if (given === undefined)
    throw new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'address', message: 'is not an address' }] })
  const isSame = await holds(deps, material, given.matchKey)
  const outcome = isSame
    ? ({ outcome: 'passed', reason: null } as const)
    : ({ outcome: 'failed', reason: 'address_differs' } as const)
  const result = { ...outcome, about: '', ref: null, evidence: entry.evidence }
  await store(deps, scope, input, { item, ...result }, { action: 'golive.address_compared', detail: { same: isSame } })
  return isSame
}

async function holds(
  { wallets, addressBook, secretBox }: GoLiveDeps,
  material: KeyMaterial,
  matchKey: string,
): Promise<boolean> {
  const { id, kind, family, mode } = material
  if (kind === 'xpub') {
    const [derived] = addressBook.derive(family, mode, openKeyMaterial(secretBox, material), COMPARED_INDEX, 1)
    return derived?.matchKey === matchKey
  }
  const [known] = await wallets.findAddresses(mode, family, [matchKey])
  return known?.heldBy?.includes(id) === true
}

/** Stores a person's statement that the master key is kept elsewhere as well, for the key that is in use now. */
export async function stateMasterKey(deps: GoLiveDeps, scope: GoLiveScope, input: OperatorAction): Promise<void> {
  const { evidence } = await findItem(deps, scope, 'master_key')
  const result = { item: 'master_key', outcome: 'passed', reason: null, about: '', ref: null, evidence } as const
  await store(deps, scope, input, result, { action: 'golive.master_key_stated', detail: { key: evidence } })
}

/** Queues a mail to the first owner or admin; the next check shows whether the mail server accepted it. Throws `INVALID_STATE` without a person. */
export async function sendTestMail(deps: GoLiveDeps, scope: GoLiveScope, input: OperatorAction): Promise<void> {
  const { people, items } = await readGoLiveFacts(deps, scope)
  const to = people[0]?.email
  const evidence = items.find(({ item }) => item === 'mail')?.evidence
  if (to === undefined || evidence === undefined)
    throw new PaymeshError('INVALID_STATE', {
      message: 'The workspace has no owner or admin who could receive a mail.',
    })
  const workspace = await deps.workspaces.findById(scope.workspaceId)
  const at = deps.clock.now()
  const mail: MailRecord = {
    id: `golive:${scope.workspaceId}:${input.opId}`,
    workspaceId: scope.workspaceId,
    template: 'owner_notice',
    to,
    data: {
      workspace: workspace?.name ?? 'your workspace',
      headline: 'Test mail before going live',
      sentence: 'This mail shows that Paymesh can reach you. Nothing was changed.',
      from: 'the go-live check',
      actor: input.actor.replace(/^user:/, ''),
      time: mailTime(at),
      reason: '-',
    },
    createdAt: at,
  }
  const result = { item: 'mail', outcome: 'pending', reason: 'mail_waits', about: '', ref: mail.id, evidence } as const
  await store(deps, scope, input, result, { action: 'golive.mail_sent', detail: {}, mails: [mail] })
  deps.notifier.notify(QUEUES.mail, mail.id)
}

/** The item of this workspace now. Throws `NOT_FOUND`. */
export async function findItem(deps: GoLiveDeps, scope: GoLiveScope, item: string): Promise<GoLiveItem> {
  const { items } = await readGoLiveFacts(deps, scope)
  const found = items.find((one) => one.item === item)
  if (found === undefined) throw new PaymeshError('NOT_FOUND')
  return found
}

/** Stores one result with its audit row. */
export async function store(
  deps: Pick<GoLiveDeps, 'clock' | 'goLive'>,
  scope: GoLiveScope,
  { opId, actor }: OperatorAction,
  result: Omit<GoLiveResult, 'at' | 'by'>,
  { action, detail, mails }: Pick<AuditRecord, 'action' | 'detail'> & { readonly mails?: readonly MailRecord[] },
): Promise<void> {
  const at = deps.clock.now()
  const audit = { id: `${action}:${opId}`, at, actor, action, subject: scope.workspaceId, ...scope }
  await deps.goLive.record(scope, [{ ...result, at, by: actor }], {
    audit: { ...audit, detail: { item: result.item, ...detail } },
    ...(mails !== undefined && { mails }),
  })
}
