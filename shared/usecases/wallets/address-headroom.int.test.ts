import { beforeAll, describe, expect, it } from 'vitest'
import { createAddressSource } from '#shared/usecases/quotes/addresses.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { deriveAhead } from './address-headroom.ts'
import { createIndexReclaimer } from './reclaim-indexes.ts'

const stores = useStores()
let engine: Engine

beforeAll(async () => {
  engine = await openEngine(stores)
})

const sandbox = async () => {
  const found = (await engine.deps.wallets.listMaterials()).find((row) => row.id.startsWith('test:evm:'))
  if (found === undefined) throw new Error('no sandbox key')
  return found
}
const keys = () => ({ addressBook: engine.addressBook, secretBox: engine.secretBox })

describe('addresses derived ahead', () => {
  it('gives test mode a key for every family', async () => {
    const materials = await engine.deps.wallets.listMaterials()
    expect(materials.map((row) => [row.family, row.sandbox, row.derivedCount])).toEqual(
      ['bitcoin', 'dogecoin', 'evm', 'litecoin', 'solana', 'tron'].map((family) => [family, true, 24]),
    )
  })

  it('keeps the headroom when addresses are taken, and derives nothing otherwise', async () => {
    const deps = { ...engine.deps, ...keys() }
    expect(await deriveAhead(deps, 24)).toBe(0)
    await engine.deps.wallets.reserveIndexes((await sandbox()).id, 5)
    expect(await deriveAhead(deps, 24)).toBe(5)
    expect((await sandbox()).derivedCount).toBe(29)
  })

  // Guarantee: with a node, no address is shown to a payer before its scanner watches it.
  it('issues only watched addresses where there is a node', async () => {
    const source = createAddressSource(engine.deps)
    const material = await sandbox()
    const taken: string[] = []
    for (;;) {
      const address = await source.take(material, 'ethereum').catch(() => null)
      if (address === null) break
      expect(address.watchedOn).toContain('ethereum')
      taken.push(address.matchKey)
    }
    expect(new Set(taken).size).toBe(taken.length)
    await expect(source.take(material, 'ethereum')).rejects.toMatchObject({ code: 'NO_WALLET_FOR_ASSET' })
    // The five that were derived later are not watched yet: good enough without a node.
    expect((await source.take(material, 'bsc')).watchedOn).toEqual([])
    await engine.watchEverything()
    engine.advance(1_000)
    expect((await source.take(material, 'ethereum')).watchedOn).toContain('ethereum')
  })

  it('serves many at the same time, each its own address', async () => {
    await deriveAhead({ ...engine.deps, ...keys() }, 120)
    const source = createAddressSource(engine.deps)
    const material = await sandbox()
    const all = await Promise.all(Array.from({ length: 50 }, () => source.take(material, 'bsc')))
    expect(new Set(all.map((address) => address.matchKey)).size).toBe(50)
  })

  it('offers again what nobody claimed within the hour, and never what an invoice holds', async () => {
    const invoice = await engine.open({ asset: 'usdt_bsc' })
    const reclaimer = createIndexReclaimer(engine.deps)
    expect(await reclaimer.run()).toBe(0)
    engine.advance(3_600_001)
    expect(await reclaimer.run()).toBeGreaterThan(0)
    const material = await sandbox()
    const offered = await engine.deps.wallets.addressesAt(material.id, material.returned)
    const held = invoice.state.paymentMethods.map((paymentMethod) => paymentMethod.matchKey)
    expect(offered.map((address) => address.matchKey)).not.toContain(held[0])
    const [again] = await engine.deps.wallets.reserveIndexes(material.id, 1)
    expect(material.returned).toContain(again)
  })
})
