import type mongoose from 'mongoose'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms, PriorHold } from '#shared/domain/invoice/model.ts'
import type { ClaimHolder, InvoiceRepository } from '#shared/ports/invoices.ts'
import { claimsOf, drawsOf, lockFromDocument, lockToDocument, releaseTimeOf, returnedOf } from './invoice-mapping.ts'
import type { InvoiceDocument } from './invoice-model.ts'

type Invoices = mongoose.mongo.Collection<InvoiceDocument>
type Filter = mongoose.mongo.Filter<InvoiceDocument>

/** The part of the invoice repository that answers who holds an address or amount, and ends what is held for a time only. */
export function invoiceClaims(invoices: Invoices) {
  const holders = async (filter: Filter): Promise<readonly ClaimHolder[]> => {
    const found = await invoices.find(filter, { projection: { workspaceId: 1, number: 1, locks: 1 } }).toArray()
    return found.map((row) => ({
      invoiceId: row._id,
      workspaceId: row.workspaceId,
      number: row.number,
      locks: row.locks.map(lockFromDocument),
    }))
  }
  const among = async (claims: readonly string[], filter: Filter): Promise<ReadonlySet<string>> => {
    if (claims.length === 0) return new Set()
    const found = await invoices
      .find({ claims: { $in: [...claims] }, ...filter }, { projection: { _id: 0, claims: 1 } })
      .toArray()
    const taken = new Set(found.flatMap((row) => row.claims ?? []))
    return new Set(claims.filter((claim) => taken.has(claim)))
  }
  return {
    releaseClaims: ((id, expectedVersion, state) =>
      releaseClaims(invoices, id, expectedVersion, state)) satisfies InvoiceRepository['releaseClaims'],
    findByClaims: ((claims) => holders({ claims: { $in: [...claims] } })) satisfies InvoiceRepository['findByClaims'],
    findByReferences: ((mode, references) =>
      holders({ 'locks.reference': { $in: [...references] }, mode })) satisfies InvoiceRepository['findByReferences'],
    coinAccounts: (async (mode, network, expiringAfter) => {
      const found = await invoices
        .find(coinLockFilter(mode, network, expiringAfter), { projection: { locks: 1, workspaceId: 1, expiresAt: 1 } })
        .toArray()
      return found.flatMap(({ _id, locks, workspaceId, expiresAt }) =>
        locks
          .filter((lock) => lock.coin === true && lock.network === network)
          .map(({ matchKey, address, asset }) => ({
            invoiceId: _id,
            workspaceId,
            expiresAt: expiresAt.getTime(),
            matchKey,
            address,
            asset,
          })),
      )
    }) satisfies InvoiceRepository['coinAccounts'],
    claimsTaken: ((claims) => among(claims, {})) satisfies InvoiceRepository['claimsTaken'],
    priorHolds: ((claims, at) => priorHolds(invoices, claims, at)) satisfies InvoiceRepository['priorHolds'],
    drawsTaken: ((draws) => drawsTaken(invoices, draws)) satisfies InvoiceRepository['drawsTaken'],
    claimsPaid: ((claims) =>
      among(claims, {
        ledger: { $elemMatch: { state: { $in: ['detected', 'confirmed'] }, simulated: false } },
      })) satisfies InvoiceRepository['claimsPaid'],
    dueForRelease: (async (until, after, limit) => {
      const past =
        after === null
          ? {}
          : {
              $or: [
                { releaseAt: { $gt: toDate(after.releaseAt) } },
                { releaseAt: toDate(after.releaseAt), _id: { $gt: after.invoiceId } },
              ],
            }
      const due = await invoices
        .find({ releaseAt: { $lte: toDate(until) }, ...past }, { projection: { releaseAt: 1 } })
        .sort({ releaseAt: 1, _id: 1 })
        .limit(limit)
        .toArray()
      return due.map((row) => ({ invoiceId: row._id, releaseAt: row.releaseAt?.getTime() ?? until }))
    }) satisfies InvoiceRepository['dueForRelease'],
  }
}

/** The filter of `coinAccounts`; exported for the test that explains it. */
export function coinLockFilter(mode: Mode, network: NetworkId, expiringAfter: Ms): Filter {
  return { 'locks.network': network, 'locks.coin': true, mode, expiresAt: { $gt: toDate(expiringAfter) } }
}

async function priorHolds(
  invoices: Invoices,
  claims: readonly string[],
  at: Ms,
): Promise<ReadonlyMap<string, PriorHold>> {
  if (claims.length === 0) return new Map()
  const asked = new Set(claims)
  const found = await invoices
    .find(
      { returned: { $in: [...claims] }, returnedUntil: { $gt: toDate(at) } },
      { projection: { workspaceId: 1, number: 1, locks: 1 } },
    )
    .toArray()
  const latest = new Map<string, PriorHold>()
  for (const { _id: invoiceId, workspaceId, number, locks } of found) {
    for (const { claim, formerClaims = [], hold } of locks) {
      if (hold === undefined || hold.releasedAt === null) continue
      const until = hold.releasedAt.getTime() + hold.quarantineMs
      for (const returned of [claim, ...formerClaims]) {
        if (!asked.has(returned) || (latest.get(returned)?.until ?? at) >= until) continue
        latest.set(returned, { invoiceId, workspaceId, number, until })
      }
    }
  }
  return latest
}

async function releaseClaims(
  invoices: Invoices,
  id: string,
  expectedVersion: number,
  state: Parameters<InvoiceRepository['releaseClaims']>[2],
): Promise<boolean> {
  const claims = claimsOf(state)
  const draws = drawsOf(state)
  const releaseAt = releaseTimeOf(state)
  const unset = {
    ...(claims.length === 0 && { claims: '' as const }),
    ...(draws.length === 0 && { draws: '' as const }),
    ...(releaseAt === null && { releaseAt: '' as const }),
  }
  const result = await invoices.updateOne(
    { _id: id, version: expectedVersion },
    {
      $set: {
        locks: state.locks.map(lockToDocument),
        ...(claims.length > 0 && { claims }),
        ...(draws.length > 0 && { draws }),
        ...returnedOf(state),
        ...(releaseAt !== null && { releaseAt }),
      },
      ...(Object.keys(unset).length > 0 && { $unset: unset }),
      $inc: { version: 1 },
    },
  )
  return result.matchedCount === 1
}

/** Of these draws those that an invoice holds, with the time at which each is given back, Unix milliseconds. */
async function drawsTaken(invoices: Invoices, draws: readonly string[]): Promise<ReadonlyMap<string, Ms>> {
  if (draws.length === 0) return new Map()
  const found = await invoices
    .find({ draws: { $in: [...draws] } }, { projection: { _id: 0, draws: 1, releaseAt: 1, expiresAt: 1 } })
    .toArray()
  const asked = new Set(draws)
  const taken = found.flatMap(({ draws: held = [], releaseAt, expiresAt }) =>
    held.map((draw) => [draw, (releaseAt ?? expiresAt).getTime()] as const),
  )
  return new Map(taken.filter(([draw]) => asked.has(draw)))
}
