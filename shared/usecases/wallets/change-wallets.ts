import { createHash } from 'node:crypto'
import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { KeyStanding } from '#shared/contracts/wallet-previews.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import type { WalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { WorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import type { AuditRecord, AuditWrite } from '#shared/ports/audit.ts'
import type { Listing } from '#shared/ports/listing.ts'
import type { DisplacedUse, ProofWrite } from '#shared/ports/ownership.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { WorkspaceAction } from '#shared/usecases/audit/operator-action.ts'
import { requireOwn } from '#shared/usecases/requests/require-own.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type AddedWallet, type AddWalletDeps, announceSharing, checkNetworks } from './add-wallet.ts'
import type { GivenProof } from './check-proof.ts'
import { keyStanding } from './key-history.ts'
import { type MaterialInput, prepareMaterial } from './prepare-material.ts'
import { enteredScope } from './proof-scope.ts'
import { requireProof } from './require-proof.ts'

/** Dependencies of changing wallets. */
export type ChangeWalletsDeps = AddWalletDeps &
  Uses<'wallets' | 'workspaces' | 'ownership' | 'walletOperations' | 'notifier'> & {
    /** How long a live wallet waits before quotes use it. */
    readonly walletDelayMs: Ms
    /** E-mail addresses of all owners of a workspace. */
    ownersOf(workspaceId: string): Promise<readonly string[]>
  }

/** A wallet, and from when on quotes use it, or the part added to it; null = from now on. */
export interface ChangedWallet {
  readonly wallet: Wallet
  readonly effectiveAt: Ms | null
  /** False when nothing had to change. */
  readonly changed: boolean
}

/**
 * Adds a wallet as `addWallet` does, for a person who uses the dashboard: audited, and in live mode announced by mail to all
 * owners. A live wallet takes effect after the delay, and so do addresses added to a pool and a wallet that was disabled; only
 * the very first live wallet of a workspace takes effect at once. It is watched immediately. On installations with several workspaces,
 * material that the workspace does not use yet needs a proof, and without one nothing is stored. Throws as `addWallet` and `requireProof` do.
 */
export async function addAnnouncedWallet(
  deps: ChangeWalletsDeps,
  input: WorkspaceAction & MaterialInput & { readonly networks?: readonly NetworkId[]; readonly proof?: GivenProof },
): Promise<ChangedWallet & Pick<AddedWallet, 'key' | 'firstAddresses' | 'listed'>> {
  const networks = checkNetworks(deps.catalog, input)
  if ((await deps.workspaces.findById(input.workspaceId)) === null) {
    throw new PaymeshError('NOT_FOUND', { message: 'Workspace not found.' })
  }
  const auditId = `wallet_added:${input.workspaceId}:${input.opId}`
  const repeated = await deps.walletOperations.isRecorded(auditId)
  const proof = repeated ? null : await requireProof(deps, enteredScope(deps, input), input.proof)
  const effectiveAt = await startOf(deps, input)
  const offeredFrom = effectiveAt === null ? {} : { offeredFrom: effectiveAt }
  // Addresses join the wallet in the transaction of its audit row, so not while the material is prepared.
  const listings: Listing[] = []
  const addListed: WalletRepository['addListed'] = (materialId, rows, from = null) => {
    listings.push({ materialId, rows, offeredFrom: from })
    return Promise.resolve([])
  }
  const preparing = { ...deps, wallets: { ...deps.wallets, addListed } }
  const prepared = await prepareMaterial(preparing, { ...input, ...offeredFrom, isProved: proof !== null })
  const { material, firstAddresses, listed, sharedWith } = prepared
  const known = await walletOn(deps, input.workspaceId, material.id)
  const { workspaceId, mode, family, kind } = input
  const fresh: Wallet = {
    ...{ id: deps.random.uuid(), workspaceId, mode, family, networks, kind, materialId: material.id },
    ...{ createdAt: deps.clock.now(), disabledAt: null },
    ...(effectiveAt !== null && { effectiveAt }),
  }
  const key = keyStanding(material)
  // A start index redirects no payment to another owner: it takes effect at once.
  const startsOnly = prepared.startChanged && known !== undefined && known.disabledAt === null
  const reported = { wallet: known ?? fresh, effectiveAt: startsOnly ? null : effectiveAt, auditId, key, proof }
  const store = (action: AuditAction, write: (auditWrite: AuditWrite) => Promise<boolean>) =>
    storeAnnounced(deps, input, { ...reported, first: firstAddresses[0] ?? '', action }, write)
  let changed = false
  if (repeated) changed = false
  else if (known === undefined)
    changed = await store('wallet.added', (auditWrite) =>
      deps.walletOperations.insert(fresh, auditWrite, listings, proof),
    )
  else if (known.disabledAt !== null) {
    const [from, to] = [known.disabledAt, { disabledAt: null, effectiveAt }]
    changed = await store('wallet.enabled', (auditWrite) =>
      deps.walletOperations.change(known.id, from, to, auditWrite, listings, proof),
    )
  } else if (kind === 'pool')
    changed = await store('wallet.extended', (auditWrite) => deps.walletOperations.note(auditWrite, listings, proof))
  else if (startsOnly || proof !== null) {
    const action = startsOnly ? 'wallet.start_index_set' : 'wallet.proved'
    changed = await store(action, (auditWrite) => deps.walletOperations.note(auditWrite, listings, proof))
  }
  const wallet = await walletOn(deps, workspaceId, material.id)
  if (wallet === undefined) throw new Error(`the wallet on ${material.id} cannot be read back`)
  if (proof === null) await announceSharing(deps, material, workspaceId, sharedWith)
  deps.logger.info({ workspaceId, walletId: wallet.id, family, mode, kind, changed }, 'wallet added')
  return {
    wallet,
    effectiveAt: waitsUntil(deps, wallet, changed && !startsOnly ? effectiveAt : null),
    changed,
    key,
    firstAddresses,
    listed,
  }
}

/**
 * Ends new quotes on a wallet at once, also on one that still waits for its start, or allows them again, in live mode after the
 * delay; audited, and in live mode announced. Does nothing when the wallet is already in that state. Throws `NOT_FOUND`.
 */
export async function switchWallet(
  deps: ChangeWalletsDeps,
  input: WorkspaceAction & { readonly walletId: string; readonly to: 'enabled' | 'disabled' },
): Promise<ChangedWallet> {
  const wallet = requireOwn(await deps.wallets.findWallet(input.walletId), input)
  const disable = input.to === 'disabled'
  if (disable === (wallet.disabledAt !== null)) {
    return { wallet, effectiveAt: waitsUntil(deps, wallet, null), changed: false }
  }
  if (!disable && wallet.displacedAt !== undefined) {
    const message = 'This wallet needs a proof of control. Prove that you control it, then enable it.'
    throw invalidState(message)
  }
  const now = deps.clock.now()
  const waits = (wallet.effectiveAt ?? 0) > now
  const effectiveAt = disable ? null : await startOf(deps, input)
  const ending = waits ? 'wallet.cancelled' : 'wallet.disabled'
  const action: AuditAction = disable ? ending : 'wallet.enabled'
  const auditId = `wallet_switched:${wallet.id}:${input.opId}`
  const to = { disabledAt: disable ? now : null, effectiveAt }
  const reported = { wallet, action, effectiveAt, auditId, first: null, key: null, proof: null }
  const changed = await storeAnnounced(deps, input, reported, (auditWrite) =>
    deps.walletOperations.change(wallet.id, wallet.disabledAt, to, auditWrite, []),
  )
  const stored = await deps.wallets.findWallet(wallet.id)
  if (stored === null) throw new PaymeshError('NOT_FOUND')
  return { wallet: stored, effectiveAt: waitsUntil(deps, stored, null), changed }
}

/** When quotes may use it; null = at once. A workspace that never had a live wallet has no payers to mislead. */
async function startOf(deps: ChangeWalletsDeps, { workspaceId, mode }: WorkspaceAction): Promise<Ms | null> {
  if (mode === 'test' || deps.walletDelayMs === 0) return null
  const live = (await deps.wallets.listWallets(workspaceId)).filter((wallet) => wallet.mode === 'live')
  return live.length === 0 ? null : deps.clock.now() + deps.walletDelayMs
}

function waitsUntil(deps: Pick<ChangeWalletsDeps, 'clock'>, wallet: Wallet, added: Ms | null): Ms | null {
  const until = Math.max(wallet.effectiveAt ?? 0, added ?? 0)
  return until > deps.clock.now() ? until : null
}

async function walletOn(deps: ChangeWalletsDeps, workspaceId: string, materialId: string) {
  return (await deps.wallets.listWallets(workspaceId)).find((wallet) => wallet.materialId === materialId)
}

/** Content of the audit row and mails about a change. */
interface WalletChange {
  readonly wallet: Wallet
  readonly action: AuditAction
  readonly effectiveAt: Ms | null
  readonly auditId: string
  readonly first: string | null
  /** The extended key being added. */
  readonly key: KeyStanding | null
  /** The proof that allowed the change; null when it needed none. */
  readonly proof: ProofWrite | null
}

/** Writes together with the audit row and the mails, and wakes the mailer. */
export async function storeAnnounced(
  deps: ChangeWalletsDeps,
  request: WorkspaceAction,
  reported: WalletChange,
  write: (auditWrite: AuditWrite) => Promise<boolean>,
): Promise<boolean> {
  const auditWrite = await notes(deps, request, reported)
  const changed = await write(auditWrite)
  if (changed) for (const { id } of auditWrite.mails ?? []) deps.notifier.notify(QUEUES.mail, id)
  return changed
}

async function notes(
  deps: ChangeWalletsDeps,
  { workspaceId, mode, actor, reason }: WorkspaceAction,
  { wallet, action, effectiveAt, auditId, first, key, proof }: WalletChange,
): Promise<AuditWrite> {
  const at = deps.clock.now()
  const starts = effectiveAt === null ? null : new Date(effectiveAt).toISOString()
  const { id, family, kind } = wallet
  const audit: AuditRecord = {
    ...{ id: auditId, at, actor, action, subject: id, workspaceId, mode },
    detail: {
      ...{ family, kind, effective_at: starts, first_address: first },
      ...(key !== null && { script_type: key.scriptType, start_index: key.ready ? key.startIndex : null }),
      ...(proof !== null && { nonce: proof.nonce, proved: proof.isKey ? 'key' : proof.rows.length }),
      ...(reason !== null && { reason }),
    },
  }
  if (mode === 'test') return { audit }
  const mails = await walletMails(deps, { wallet, audit, starts, first })
  return { audit, mails: [...mails, ...(proof === null ? [] : await displacementMails(deps, proof, auditId))] }
}

/** The mails to every owner about a change of a live wallet. `starts` is when it takes effect, null for at once. */
async function walletMails(
  deps: Pick<ChangeWalletsDeps, 'ownersOf'> & { readonly workspaces: Pick<WorkspaceRepository, 'findById'> },
  change: {
    readonly wallet: Wallet
    readonly audit: AuditRecord
    readonly starts: string | null
    readonly first: string | null
  },
): Promise<readonly MailRecord[]> {
  const { wallet, audit, starts, first } = change
  const { id, family, kind, workspaceId } = wallet
  const workspace = await deps.workspaces.findById(workspaceId)
  const data = {
    workspace: workspace?.name ?? '',
    change: CHANGES[audit.action] ?? audit.action,
    ...{ family, kind, wallet: id },
    first_address: first ?? '-',
    effective: starts ?? 'immediately',
    actor: audit.actor.replace(/^user:/, ''),
  }
  const owners = [...new Set(await deps.ownersOf(workspaceId))]
  return owners.map((to, place): MailRecord => {
    return { id: `${audit.id}:${place}`, workspaceId, template: 'wallet_changed', to, data, createdAt: audit.at }
  })
}

const CHANGES: Readonly<Record<string, string>> = {
  'wallet.added': 'added',
  'wallet.enabled': 'enabled again',
  'wallet.extended': 'given more addresses',
  'wallet.proved': 'proved with a signed message',
  'wallet.start_index_set': 'given a start index',
  'wallet.disabled': 'disabled',
  'wallet.cancelled': 'cancelled before its start',
}

/** Dependencies of mailing the owners of both sides. */
type DisplacementMailDeps = Uses<'workspaces'> & {
  ownersOf(workspaceId: string): Promise<readonly string[]>
}

/**
 * Mails about a proof that displaces others: to every owner of the workspaces that lose addresses and of the one that proved them. Neither
 * mail names the other workspace. `auditId` makes them unique.
 */
async function displacementMails(
  deps: DisplacementMailDeps,
  { displaced, workspaceId, family, rows, isKey, provedAt }: ProofWrite,
  auditId: string,
): Promise<readonly MailRecord[]> {
  if (displaced.length === 0) return []
  const ids = [workspaceId, ...displaced.map((use) => use.workspaceId)]
  const names = new Map((await deps.workspaces.findMany(ids)).map(({ id, name }) => [id, name]))
  const mailsTo = async (id: string, template: MailRecord['template'], about: Record<string, string>) => {
    const owners = [...new Set(await deps.ownersOf(id))]
    return owners.map((to, place): MailRecord => {
      const data = { workspace: names.get(id) ?? '', family, ...about }
      // Mail programs show the key, and the id of the action would reveal the other workspace.
      const key = createHash('sha256').update(`${auditId}:${template}:${id}:${place}`).digest('hex').slice(0, 40)
      return { id: `${template}:${key}`, workspaceId: id, template, to, data, createdAt: provedAt }
    })
  }
  const lost = displaced.map((use) =>
    mailsTo(use.workspaceId, 'address_displaced', { what: labelsFor(use), addresses: use.addresses.join(', ') || '-' }),
  )
  const shown = rows.slice(0, 3).map(({ address }) => address)
  const what = labelsFor({ isKey, count: rows.length })
  const won = mailsTo(workspaceId, 'address_proved', { what, addresses: shown.join(', ') })
  return (await Promise.all([...lost, won])).flat()
}

function labelsFor({ isKey, count }: Pick<DisplacedUse, 'isKey' | 'count'>): string {
  if (isKey) return 'an extended public key'
  return count === 1 ? 'one address' : `${count} addresses`
}
