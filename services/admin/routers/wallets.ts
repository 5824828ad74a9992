import { z } from 'zod'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { FAMILIES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { addAnnouncedWallet, switchWallet } from '#shared/usecases/change-wallets.ts'
import { WALLET_KINDS } from '#shared/usecases/ports/wallets.ts'
import { previewWallet } from '#shared/usecases/preview-wallet.ts'
import { visitorShare } from '#shared/usecases/visitor-budget.ts'
import { USUAL_GAP_LIMIT, walletGap } from '#shared/usecases/wallet-gap.ts'
import { countPool } from '#shared/usecases/watch-pools.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { router, workspaceDeed, workspaceQuery } from '../trpc.ts'
import { walletToWire, walletWire } from '../wire/wallet-wire.ts'

/** A list of ten thousand addresses with room for separators. */
const VALUE_MAX = 900_000

const entered = z.object({
  family: z.enum(FAMILIES),
  kind: z.enum(WALLET_KINDS),
  /** An extended public key, a list of addresses, or one address. Never logged, never repeated. */
  value: z.string().min(1, 'is empty').max(VALUE_MAX, 'is too long'),
  networks: z.array(z.enum(NETWORK_IDS)).min(1).max(NETWORK_IDS.length).optional(),
})
const changed = z.object({ wallet: walletWire, startsAt: z.number().nullable(), changed: z.boolean() })
const one = z.object({ walletId: z.uuid() })

/** What a workspace receives with: public keys and addresses only. */
export const walletsRouter = router({
  list: workspaceQuery('viewer')
    .output(
      z.object({
        items: z.array(walletWire),
        /** How long the next live wallet waits. */
        delayMs: z.number(),
      }),
    )
    .query(async ({ ctx, input }) => {
      const { wallets, walletDelayMs } = ctx.deps.instance
      const own = (await wallets.listWallets(input.workspaceId)).filter(({ mode }) => mode === input.mode)
      const now = ctx.deps.clock.now()
      const items = own.map((wallet) => walletToWire(wallet, own, now))
      // What receives comes first, newest first.
      items.sort(
        (left, right) =>
          Number(left.disabledAt !== null) - Number(right.disabledAt !== null) || right.createdAt - left.createdAt,
      )
      return { items, delayMs: input.mode === 'live' && own.length > 0 ? walletDelayMs : 0 }
    }),

  /** How far a wallet is used. Reads every address that was offered, hence a query of its own for each wallet. */
  use: workspaceQuery('viewer')
    .input(one)
    .output(
      z.discriminatedUnion('kind', [
        z.object({
          kind: z.literal('xpub'),
          nextIndex: z.number(),
          lastPaidIndex: z.number().nullable(),
          /** Unpaid addresses in a row that the owner's wallet must look across. */
          requiredGap: z.number(),
          usualGap: z.number(),
        }),
        z.object({
          kind: z.literal('pool'),
          total: z.number(),
          free: z.number(),
          /** How many of `total` visitors who have not paid never hold. */
          reserved: z.number(),
        }),
        z.object({ kind: z.literal('address') }),
      ]),
    )
    .query(async ({ ctx, input }) => {
      const { instance } = ctx.deps
      const wallet = await ownWallet(ctx.deps, input)
      const material = await instance.wallets.findMaterial(wallet.materialId)
      if (material === null) throw new PaymeshError('NOT_FOUND')
      if (wallet.kind === 'address') return { kind: 'address' }
      if (wallet.kind === 'pool') {
        const { total, free } = await countPool(instance, material)
        return { kind: 'pool', total, free, reserved: total - visitorShare(total, ctx.workspace.policy) }
      }
      const { nextIndex, lastPaidIndex, requiredGap } = await walletGap(instance, material)
      return { kind: 'xpub', nextIndex, lastPaidIndex, requiredGap, usualGap: USUAL_GAP_LIMIT }
    }),

  /** Shows what a wallet would be and stores nothing. A mutation, because a query's input stands in a URL and in logs. */
  prepare: workspaceQuery('admin')
    .input(entered)
    .output(
      z.object({
        kind: z.enum(WALLET_KINDS),
        networks: z.array(z.enum(NETWORK_IDS)),
        addresses: z.array(z.object({ index: z.number(), path: z.string().nullable(), address: z.string() })),
        listed: z.object({ count: z.number(), repeated: z.number() }).nullable(),
        standing: z.enum(['none', 'enabled', 'disabled']),
        warnings: z.array(z.string()),
      }),
    )
    .mutation(async ({ ctx, input }) => {
      const { networks, addresses, ...preview } = await previewWallet(ctx.deps.instance, inputOf(input))
      return { ...preview, networks: [...networks], addresses: [...addresses], warnings: [...preview.warnings] }
    }),

  add: workspaceDeed('admin', { stepUp: true })
    .input(entered)
    .output(changed.extend({ firstAddresses: z.array(z.string()) }))
    .mutation(async ({ ctx, input }) => {
      const wish = { actor: ctx.actor, reason: input.reason ?? null, opId: input.opId }
      const added = await addAnnouncedWallet(partsOf(ctx.deps), { ...inputOf(input), ...wish })
      return { ...(await toWire(ctx.deps, added)), firstAddresses: [...added.firstAddresses] }
    }),

  disable: workspaceDeed('admin', { stepUp: true })
    .input(one)
    .output(changed)
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, opId, walletId } = input
      const wish = { workspaceId, mode, opId, walletId, actor: ctx.actor, reason: input.reason ?? null }
      return await toWire(ctx.deps, await switchWallet(partsOf(ctx.deps), { ...wish, to: 'disabled' }))
    }),

  enable: workspaceDeed('admin', { stepUp: true })
    .input(one)
    .output(changed)
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, opId, walletId } = input
      const wish = { workspaceId, mode, opId, walletId, actor: ctx.actor, reason: input.reason ?? null }
      return await toWire(ctx.deps, await switchWallet(partsOf(ctx.deps), { ...wish, to: 'enabled' }))
    }),
})

type Entered = z.output<typeof entered> & { readonly workspaceId: string; readonly mode: 'live' | 'test' }

function inputOf({ workspaceId, mode, family, kind, value, networks }: Entered) {
  return { workspaceId, mode, family, kind, value, ...(networks !== undefined && { networks }) }
}

async function ownWallet(
  { instance }: AdminDeps,
  { workspaceId, mode, walletId }: { readonly workspaceId: string; readonly mode: string; readonly walletId: string },
) {
  const found = await instance.wallets.findWallet(walletId)
  if (found === null || found.workspaceId !== workspaceId || found.mode !== mode) throw new PaymeshError('NOT_FOUND')
  return found
}

async function toWire(
  { instance, clock }: AdminDeps,
  {
    wallet,
    effectiveAt,
    changed: isChanged,
  }: Pick<Awaited<ReturnType<typeof switchWallet>>, 'wallet' | 'effectiveAt' | 'changed'>,
) {
  const { workspaceId, mode } = wallet
  const own = (await instance.wallets.listWallets(workspaceId)).filter((other) => other.mode === mode)
  return { wallet: walletToWire(wallet, own, clock.now()), startsAt: effectiveAt, changed: isChanged }
}

function partsOf(deps: AdminDeps) {
  const { clock, random, logger, metrics, kicker } = deps
  return { ...deps.instance, clock, random, logger, metrics, kicker }
}
