import { invalidField, invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import { type AssetId, networkOf } from '#shared/domain/enumerations.ts'
import type { GoLiveStatement } from '#shared/domain/golive/go-live.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { GoLiveScope } from '#shared/ports/go-live.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import { type CreateByHandDeps, createInvoiceByHand } from '#shared/usecases/invoices/create-invoice-by-hand.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { bodyFingerprint } from '#shared/usecases/requests/idempotency-scope.ts'
import { openKeyMaterial } from '#shared/usecases/wallets/key-material.ts'
import { requireStatus } from '#shared/usecases/workspaces/require-status.ts'
import { BUILT_IN, COMPARED_INDEX, type GoLiveDeps, readGoLiveFacts, type StatementItem } from './read-go-live.ts'

/** Marks the invoice of a self-payment; its value is the network. Receivers see it in `metadata` and can leave the invoice out of their books. */
const GO_LIVE_METADATA = 'paymesh_go_live'

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
  const { addresses } = await readGoLiveFacts(deps, scope)
  const entry = found(addresses.find(({ wallet }) => wallet?.id === input.walletId))
  const material = found(await deps.wallets.findMaterial(entry.evidence))
  const [given] = deps.addressBook.parseAddresses(material.family, input.address.trim()).addresses
  if (given === undefined) throw invalidField('address', 'is not an address')
  const isSame = await holds(deps, material, given.matchKey)
  const audit = { action: 'golive.address_compared', detail: { same: isSame } } as const
  await store(deps, scope, input, { ...entry, holds: isSame }, audit)
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
  const { masterKey } = await readGoLiveFacts(deps, scope)
  const audit = { action: 'golive.master_key_stated', detail: { key: masterKey.evidence } } as const
  await store(deps, scope, input, masterKey, audit)
}

/** Queues a mail to the first owner or admin; the check then shows whether the mail server accepted it. Throws `INVALID_STATE` without a person. */
export async function sendTestMail(deps: GoLiveDeps, scope: GoLiveScope, input: OperatorAction): Promise<void> {
  const facts = await readGoLiveFacts(deps, scope)
  const to = facts.people[0]?.email
  if (to === undefined) throw invalidState('The workspace has no owner or admin who could receive a mail.')
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
  const audit = { action: 'golive.mail_sent', detail: {}, mails: [mail] } as const
  await store(deps, scope, input, { ...facts.mail, ref: mail.id }, audit)
  deps.notifier.notify(QUEUES.mail, mail.id)
}

/**
 * Creates a real invoice for a small payment of one's own on the network of `asset`. Repeating it with the same `opId` returns the
 * same invoice. Throws `WORKSPACE_SUSPENDED` or `WORKSPACE_RESTRICTED` before anything else, `NOT_FOUND` for a network on which the
 * workspace does not receive, and every error of creating an invoice.
 */
export async function startGoLivePayment(
  deps: GoLiveDeps & { readonly invoicing: CreateByHandDeps },
  scope: GoLiveScope,
  input: OperatorAction & {
    readonly asset: AssetId
    /** Decimal amount in US dollars. */
    readonly amount: string
    readonly requestId: string
  },
): Promise<{ readonly invoiceId: string }> {
  const network = networkOf(input.asset)
  const workspace = found(await deps.workspaces.findById(scope.workspaceId))
  // The command line reaches this in every status, and no invoice begins in a workspace that may begin none.
  requireStatus(workspace, 'active')
  const { payments } = await readGoLiveFacts(deps, scope)
  const { item } = found(payments.find((entry) => entry.network === network))
  const body = {
    amount: input.amount,
    currency: 'USD',
    asset: input.asset,
    description: `Go-live test on ${network}`,
    metadata: { [GO_LIVE_METADATA]: network },
  }
  const invoice = await createInvoiceByHand(deps.invoicing, {
    workspace,
    mode: scope.mode,
    body: validate(invoiceCreateBody[scope.mode], body),
    opId: input.opId,
    attribution: { by: input.actor, ...(input.reason !== null && { reason: input.reason }) },
    fingerprint: bodyFingerprint(Buffer.from(JSON.stringify(body), 'utf8')),
    requestId: input.requestId,
  })
  const invoiceId = invoice.terms.id
  const evidence = await receivedWith(deps, scope, invoice, input.asset)
  const audit = { action: 'golive.payment_started', detail: { invoice: invoiceId } } as const
  await store(deps, scope, input, { item, evidence, ref: invoiceId }, audit)
  return { invoiceId }
}

/** The workspace's key material behind the address that the invoice was given for the asset: a payment proves this one, whatever was added meanwhile. */
async function receivedWith(
  { wallets }: Pick<GoLiveDeps, 'wallets'>,
  { workspaceId, mode }: GoLiveScope,
  { state }: Pick<Invoice, 'state'>,
  asset: AssetId,
): Promise<string> {
  const method = state.paymentMethods.find((paymentMethod) => paymentMethod.asset === asset)
  if (method === undefined) return BUILT_IN
  const [held] = await wallets.findAddresses(mode, method.family, [method.matchKey])
  if (held === undefined) return BUILT_IN
  const own = (await wallets.listWallets(workspaceId)).filter((wallet) => wallet.mode === mode)
  const holders = held.heldBy ?? [held.materialId]
  const newest = own.toSorted((a, b) => b.createdAt - a.createdAt).find((one) => holders.includes(one.materialId))
  return newest?.materialId ?? BUILT_IN
}

/** Throws `NOT_FOUND` for what is not there. */
function found<T>(one: T | null | undefined): T {
  if (one === null || one === undefined) throw new PaymeshError('NOT_FOUND')
  return one
}

/** Stores one statement with its audit row. */
async function store(
  deps: Pick<GoLiveDeps, 'clock' | 'goLive'>,
  scope: GoLiveScope,
  { opId, actor }: OperatorAction,
  {
    item,
    evidence,
    holds = true,
    ref = null,
  }: Pick<StatementItem, 'item' | 'evidence'> & Partial<Pick<GoLiveStatement, 'holds' | 'ref'>>,
  { action, detail, mails }: Pick<AuditRecord, 'action' | 'detail'> & { readonly mails?: readonly MailRecord[] },
): Promise<void> {
  const at = deps.clock.now()
  const audit = { id: `${action}:${opId}`, at, actor, action, subject: scope.workspaceId, ...scope }
  await deps.goLive.record(
    scope,
    { item, at, by: actor, evidence, holds, ref },
    { audit: { ...audit, detail: { item, ...detail } }, ...(mails !== undefined && { mails }) },
  )
}
