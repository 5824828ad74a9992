import { z } from 'zod'
import type { AdminDeps } from '#services/admin/assemble.ts'
import { router, workspaceMutation, workspaceQuery } from '#services/admin/trpc.ts'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { SIGNATURES_MAX } from '#shared/contracts/signature-list.ts'
import { type KeyStanding, keyStandingWire, walletGapWire, walletPreview } from '#shared/contracts/wallet-previews.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import { FAMILIES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { SCRIPT_TYPES } from '#shared/domain/script-type.ts'
import { WALLET_KINDS } from '#shared/ports/key-material.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { visitorShare } from '#shared/usecases/quotes/visitor-budget.ts'
import { requireOwn } from '#shared/usecases/requests/require-own.ts'
import { addAnnouncedWallet, switchWallet } from '#shared/usecases/wallets/change-wallets.ts'
import { issueChallenge } from '#shared/usecases/wallets/issue-challenge.ts'
import { keyStanding, START_INDEX_MAX } from '#shared/usecases/wallets/key-history.ts'
import { previewWallet } from '#shared/usecases/wallets/preview-wallet.ts'
import { proveWallet } from '#shared/usecases/wallets/prove-wallet.ts'
import { requiresProofs } from '#shared/usecases/wallets/require-proof.ts'
import { GAP_LOOK_BACK, USUAL_GAP_LIMIT, walletGap } from '#shared/usecases/wallets/wallet-gap.ts'
import { countPool } from '#shared/usecases/wallets/warn-low-pools.ts'
import { actionOf } from '../action.ts'

const ms = z.number()

/** A wallet as shown on pages. */
const walletWire = z.object({
  id: z.string(),
  family: z.enum(FAMILIES),
  kind: z.enum(WALLET_KINDS),
  networks: z.array(z.enum(NETWORK_IDS)),
  createdAt: ms,
  disabledAt: ms.nullable(),
  /** When quotes start using it; null when they do already, or while it is disabled. */
  startsAt: ms.nullable(),
  /** Networks on which a newer wallet of the same family receives instead. */
  supersededOn: z.array(z.enum(NETWORK_IDS)),
  /** Null unless it is an extended key. */
  key: keyStandingWire.omit({ ready: true }).nullable(),
  /** How much of it the workspace proved to control; null where no proof is required. */
  proof: z
    .object({
      /** Addresses of a pool, otherwise 1 or 0. */
      proved: z.number(),
      of: z.number(),
      /** Another workspace proved it: it is disabled until this one does. */
      isDisplaced: z.boolean(),
    })
    .nullable(),
})
type WalletWire = z.output<typeof walletWire>

/** A wallet as shown on a page among the others of its workspace and mode. */
function walletToWire(
  wallet: Wallet,
  all: readonly Wallet[],
  { key, proof }: { readonly key: KeyStanding | null; readonly proof: WalletWire['proof'] },
  now: number,
): WalletWire {
  const { id, family, kind, networks, createdAt, disabledAt, effectiveAt } = wallet
  const newer = all.filter(
    (other) =>
      other.family === family &&
      other.disabledAt === null &&
      other.createdAt > createdAt &&
      (other.effectiveAt ?? 0) <= now,
  )
  return {
    ...{ id, family, kind, networks: [...networks], createdAt, disabledAt },
    startsAt: disabledAt === null && effectiveAt !== undefined && effectiveAt > now ? effectiveAt : null,
    ...{ key, proof },
    supersededOn: networks.filter((network) => newer.some((other) => other.networks.includes(network))),
  }
}

/** A list of ten thousand addresses with room for separators. */
const VALUE_MAX = 900_000

const entered = z.strictObject({
  family: z.enum(FAMILIES),
  kind: z.enum(WALLET_KINDS),
  /** An extended public key, a list of addresses, or one address. Never logged, never repeated. */
  value: boundedText(VALUE_MAX, 'is too long').min(1, 'is empty'),
  networks: z.array(z.enum(NETWORK_IDS)).min(1).max(NETWORK_IDS.length).optional(),
  /** Required if an extended key does not determine it; `prepare` then returns the choices. */
  scriptType: z.enum(SCRIPT_TYPES).optional(),
  /** Position of an extended key that is not at account level, such as `m/0'`. */
  path: boundedText(60, 'is too long').optional(),
  /** First index of an extended key to offer, instead of a search for its earlier use. */
  startIndex: z.int().min(0).max(START_INDEX_MAX).optional(),
})
/** A signed challenge: one signature, or one for each address. */
const proof = z.strictObject({
  nonce: boundedText(32).regex(/^[0-9a-f]{32}$/, 'is not the nonce of a challenge'),
  signatures: z
    .array(z.strictObject({ address: boundedText(120), signature: boundedText(400).min(1) }))
    .min(1)
    .max(SIGNATURES_MAX),
})
const changed = z.object({ wallet: walletWire, startsAt: z.number().nullable(), changed: z.boolean() })
/** How many addresses of a list joined a pool; null for anything else. */
const listedWire = z.object({ added: z.number(), known: z.number(), repeated: z.number() }).nullable()
const one = z.strictObject({ walletId: z.uuid() })
const useWire = z.discriminatedUnion('kind', [
  walletGapWire.extend({ kind: z.literal('xpub'), usualGap: z.number() }),
  z.object({
    kind: z.literal('pool'),
    total: z.number(),
    free: z.number(),
    /** How many of `total` are reserved from visitors who have not paid. */
    reserved: z.number(),
  }),
  z.object({ kind: z.literal('address') }),
])

/** A workspace's wallets: public keys and addresses only. */
export const walletsRouter = router({
  list: workspaceQuery('viewer')
    .output(
      z.object({
        items: z.array(walletWire),
        /** How long the next live wallet waits. */
        delayMs: z.number(),
        /** The installation has several workspaces: an addition needs a proof. */
        requiresProofs: z.boolean(),
      }),
    )
    .query(async ({ ctx, input }) => {
      const { wallets, walletDelayMs } = ctx.deps.instance
      const own = (await wallets.listWallets(input.workspaceId)).filter(({ mode }) => mode === input.mode)
      const now = ctx.deps.clock.now()
      const isRequired = await requiresProofs(ctx.deps.instance, input.mode)
      const facts = await Promise.all(own.map((wallet) => factsOf(ctx.deps, wallet, isRequired)))
      const items = own.map((wallet, index) => walletToWire(wallet, own, facts[index] ?? NO_FACTS, now))
      // Receiving wallets first, newest first.
      items.sort(
        (left, right) =>
          Number(left.disabledAt !== null) - Number(right.disabledAt !== null) || right.createdAt - left.createdAt,
      )
      const delayMs = input.mode === 'live' && own.length > 0 ? walletDelayMs : 0
      return { items, delayMs, requiresProofs: isRequired }
    }),

  get: workspaceQuery('viewer')
    .input(one)
    .output(z.object({ wallet: walletWire, use: useWire }))
    .query(async ({ ctx, input }) => {
      const wallet = await ownWallet(ctx.deps, input)
      const shown = await toWire(ctx.deps, { wallet, effectiveAt: null, changed: false })
      return { wallet: shown.wallet, use: await useOf(ctx, wallet) }
    }),

  /** How far a wallet is used. Reads the newest offered addresses, so it is a separate query for each wallet. */
  use: workspaceQuery('viewer')
    .input(one)
    .output(useWire)
    .query(async ({ ctx, input }) => await useOf(ctx, await ownWallet(ctx.deps, input))),

  /** Previews a wallet and stores nothing. A mutation, so that no client puts its input into a URL, which ends up in logs. */
  prepare: workspaceQuery('admin', { work: 'wallet' })
    .input(entered)
    .output(walletPreview.extend({ kind: z.enum(WALLET_KINDS), requiresProofs: z.boolean() }))
    .mutation(async ({ ctx, input }) => {
      const preview = await previewWallet(ctx.deps.instance, inputOf(input))
      return { ...preview, kind: input.kind, requiresProofs: await requiresProofs(ctx.deps.instance, input.mode) }
    }),

  add: workspaceMutation('admin', { worksWhile: 'restricted', stepUp: true, work: 'wallet' })
    .input(entered.extend({ proof: proof.optional() }))
    .output(changed.extend({ firstAddresses: z.array(z.string()), listed: listedWire }))
    .mutation(async ({ ctx, input }) => {
      const given = input.proof === undefined ? {} : { proof: input.proof }
      const request = { ...inputOf(input), ...actionOf(ctx, input), ...given }
      const added = await addAnnouncedWallet(ctx.deps.instance, request)
      const { firstAddresses, listed } = added
      return { ...(await toWire(ctx.deps, added)), firstAddresses: [...firstAddresses], listed }
    }),

  /** A text whose signature proves control of a wallet, or of material about to be added. */
  challenge: workspaceMutation('admin', { worksWhile: 'restricted', work: 'wallet' })
    .input(z.object({ about: z.union([one, z.strictObject({ entered })]) }))
    .output(
      z.object({
        nonce: z.string(),
        text: z.string(),
        expiresAt: z.number(),
        signers: z.object({ count: z.number(), first: z.array(z.string()) }),
      }),
    )
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, about } = input
      const request = { workspaceId, mode, ...actionOf(ctx, input) }
      const subject = 'walletId' in about ? about : { entered: inputOf({ ...about.entered, workspaceId, mode }) }
      const { signers, ...issued } = await issueChallenge(ctx.deps.instance, { ...request, about: subject })
      return { ...issued, signers: { count: signers.count, first: [...signers.first] } }
    }),

  prove: workspaceMutation('admin', { worksWhile: 'restricted', stepUp: true, work: 'wallet' })
    .input(one.extend({ proof }))
    .output(changed.extend({ proved: z.number() }))
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, walletId, proof } = input
      const request = { workspaceId, mode, walletId, proof, ...actionOf(ctx, input) }
      const proven = await proveWallet(ctx.deps.instance, request)
      return { ...(await toWire(ctx.deps, proven)), proved: proven.proved }
    }),

  disable: workspaceMutation('admin', { worksWhile: 'suspended', stepUp: true })
    .input(one)
    .output(changed)
    .mutation(({ ctx, input }) => switched(ctx, input, 'disabled')),

  enable: workspaceMutation('admin', { worksWhile: 'restricted', stepUp: true })
    .input(one)
    .output(changed)
    .mutation(({ ctx, input }) => switched(ctx, input, 'enabled')),
})

async function switched(
  ctx: { readonly deps: AdminDeps; readonly actor: string },
  { workspaceId, mode, walletId, ...action }: SwitchInput,
  to: 'enabled' | 'disabled',
) {
  const request = { workspaceId, mode, walletId, to, ...actionOf(ctx, action) }
  return await toWire(ctx.deps, await switchWallet(ctx.deps.instance, request))
}

async function useOf(
  { deps: { instance }, workspace }: { readonly deps: AdminDeps; readonly workspace: Workspace },
  { materialId, kind }: Wallet,
): Promise<z.output<typeof useWire>> {
  const material = await instance.wallets.findMaterial(materialId)
  if (material === null) throw new PaymeshError('NOT_FOUND')
  if (kind === 'address') return { kind }
  if (kind === 'pool') {
    const { total, free } = await countPool(instance, material)
    return { kind, total, free, reserved: total - visitorShare(total, workspace.policy) }
  }
  return { kind, ...(await walletGap(instance, material, GAP_LOOK_BACK)), usualGap: USUAL_GAP_LIMIT }
}

type SwitchInput = Parameters<typeof ownWallet>[1] & Parameters<typeof actionOf>[1]

type WalletInput = z.output<typeof entered> & { readonly workspaceId: string; readonly mode: 'live' | 'test' }

function inputOf({ workspaceId, mode, family, kind, value, networks, scriptType, path, startIndex }: WalletInput) {
  return {
    ...{ workspaceId, mode, family, kind, value },
    ...(networks !== undefined && { networks }),
    ...(scriptType !== undefined && { scriptType }),
    ...(path !== undefined && { path }),
    ...(startIndex !== undefined && { startIndex }),
  }
}

async function keyOf({ instance }: AdminDeps, { materialId }: Wallet): Promise<KeyStanding | null> {
  const material = await instance.wallets.findMaterial(materialId)
  return material === null ? null : keyStanding(material)
}

type Facts = Parameters<typeof walletToWire>[2]
const NO_FACTS: Facts = { key: null, proof: null }

/** `isRequired`: the installation has several workspaces. */
async function factsOf(deps: AdminDeps, wallet: Wallet, isRequired: boolean): Promise<Facts> {
  const { ownership, wallets } = deps.instance
  const key = await keyOf(deps, wallet)
  const isDisplaced = wallet.displacedAt !== undefined
  if (!isRequired && !isDisplaced) return { key, proof: null }
  const proved = await ownership.countProved(wallet.workspaceId, wallet.materialId)
  const of = wallet.kind === 'pool' ? await wallets.countHeld(wallet.materialId) : 1
  return { key, proof: { proved: Math.min(proved, of), of, isDisplaced } }
}

const ownWallet = async (
  { instance }: AdminDeps,
  input: Parameters<typeof requireOwn>[1] & { readonly walletId: string },
) => requireOwn(await instance.wallets.findWallet(input.walletId), input)

async function toWire(
  deps: AdminDeps,
  {
    wallet,
    effectiveAt,
    changed: isChanged,
  }: Pick<Awaited<ReturnType<typeof switchWallet>>, 'wallet' | 'effectiveAt' | 'changed'>,
) {
  const { instance, clock } = deps
  const { workspaceId, mode } = wallet
  const own = (await instance.wallets.listWallets(workspaceId)).filter((other) => other.mode === mode)
  const facts = await factsOf(deps, wallet, await requiresProofs(instance, mode))
  return { wallet: walletToWire(wallet, own, facts, clock.now()), startsAt: effectiveAt, changed: isChanged }
}
