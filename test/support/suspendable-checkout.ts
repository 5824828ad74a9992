import { rmSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'
import { startStores } from '#dev/embedded/stores.ts'
import { builtPages } from '#scripts/pages.mjs'
import { type CheckoutStage, openCheckout } from '#services/checkout/checkout.fixture.ts'
import { makeStoreFolder } from './store-folder.ts'
import { openStores, type TestStores } from './stores.ts'

/** A checkout whose mongod belongs to the file: it can be suspended without stopping anybody else's. */
export interface SuspendableCheckout extends CheckoutStage {
  /** SIGSTOP: connections stay open, and nothing answers. */
  suspend(): void
  resume(): void
  readonly stores: Pick<TestStores, 'db' | 'runtime'>
}

/** Opens it for the file; good inside hooks and tests. */
export function useSuspendableCheckout(): () => SuspendableCheckout {
  let stage: SuspendableCheckout | undefined
  const undo: (() => unknown)[] = []
  beforeAll(async () => {
    const dataDir = makeStoreFolder('paymesh-suspend')
    undo.unshift(() => rmSync(dataDir, { recursive: true, force: true }))
    const own = await startStores({ dataDir, report: () => {}, mongoUrl: null, redisUrl: null })
    undo.unshift(own.stop)
    const urls = { mongoUrl: own.mongoUrl, redisUrl: own.redisUrl, database: 'paymesh', prefix: 'paymesh' }
    const stores = await openStores({ ...urls, migrated: true })
    undo.unshift(stores.close)
    const opened = await openCheckout({ ...stores, ...urls }, { pagesDir: await builtPages() })
    undo.unshift(opened.close)
    const { pid } = await stores.db.connection.getClient().db('admin').command({ serverStatus: 1 })
    const signal = (what: NodeJS.Signals) => void process.kill(Number(pid), what)
    undo.unshift(() => signal('SIGCONT'))
    stage = { ...opened, stores, suspend: () => signal('SIGSTOP'), resume: () => signal('SIGCONT') }
  })
  afterAll(async () => {
    for (const step of undo) await step()
  })
  return () => {
    if (stage === undefined) throw new Error('the checkout is open only inside hooks and tests')
    return stage
  }
}
