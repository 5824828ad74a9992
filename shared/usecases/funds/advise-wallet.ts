import type { WalletAdvice } from '#shared/contracts/wallet-previews.ts'
import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { formatFiat, formatUnits } from '#shared/domain/money/money.ts'

import type { MoveFees } from '#shared/ports/funds.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import { NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type FiatDeps, fiatOf, usualInvoice } from './fiat-of.ts'
import { coinOf, type FundsClient } from './read-wallet-funds.ts'

/** Dependencies of the advice. */
export type AdviseWalletDeps = Omit<FiatDeps, 'catalog'> &
  Uses<'catalog' | 'workspaces'> & {
    readonly lookups: Pick<InvoiceLookups, 'page'>
    openClient(mode: Mode, network: NetworkId): FundsClient | null
  }

/**
 * Compares what moving one payment costs with the workspace's usual invoice. Only a fresh address for each invoice multiplies that
 * cost, so only then fewer addresses are recommended, and only from figures that are known. At most five calls for each network.
 */
export async function adviseWallet(
  deps: AdviseWalletDeps,
  input: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly kind: KeyMaterial['kind']
    readonly networks: readonly NetworkId[]
  },
): Promise<WalletAdvice> {
  const { workspaceId, mode, kind } = input
  const [workspace, usual] = await Promise.all([
    deps.workspaces.findById(workspaceId),
    usualInvoice(deps.lookups, { workspaceId, mode }),
  ])
  const fiat = fiatOf(deps, usual.currency, workspace?.policy.arsSeries ?? 'official')
  const networks = input.networks.filter((network) => deps.catalog.hasNode(network, mode))
  const perNetwork = await Promise.all(networks.map((network) => feesOf(deps, mode, network)))
  const costs: WalletAdvice['costs'] = []
  for (const [index, network] of networks.entries()) {
    const coin = coinOf(network)
    for (const [asset, fee] of perNetwork[index]?.perAsset ?? []) {
      if (!deps.catalog.accepts(asset, mode)) continue
      const minor = fee === null ? null : await fiat.minor(coin, fee)
      costs.push({
        ...{ network, asset },
        symbol: deps.catalog.asset(asset).symbol,
        fee: fee === null ? null : formatUnits(fee, deps.catalog.asset(coin).decimals),
        feeSymbol: deps.catalog.asset(coin).symbol,
        feeFiat: minor === null ? null : formatFiat(minor, usual.currency),
        exceedsUsual: minor !== null && usual.medianMinor !== null && minor >= usual.medianMinor,
      })
    }
  }
  return {
    costs,
    currency: usual.currency,
    usual: usual.medianMinor === null ? null : formatFiat(usual.medianMinor, usual.currency),
    recommendFewer: kind === 'xpub' && costs.some(({ exceedsUsual }) => exceedsUsual),
  }
}

/** Null when no node gave its fees. */
async function feesOf(deps: AdviseWalletDeps, mode: Mode, network: NetworkId): Promise<MoveFees | null> {
  const client = deps.openClient(mode, network)
  if (client === null) return null
  try {
    return (await client.funds?.fees()) ?? null
  } catch (error) {
    if (error instanceof NodeUnreliable || error instanceof NodeMismatch) return null
    throw error
  } finally {
    await client.close().catch(() => undefined)
  }
}
