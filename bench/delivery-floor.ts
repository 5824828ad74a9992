import mongoose from 'mongoose'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import type { BarePath } from './bare-path.ts'
import { freePort, pause } from './child.ts'
import type { DeliveryStage } from './delivery-stage.ts'
import { type Delays, processOf, reportPaces, reportRatios, runPace, TAIL_MS } from './paced-delays.ts'
import type { Rig } from './rig.ts'
import { storeProcesses } from './store-processes.ts'
import type { WorkMeter } from './work-counts.ts'

/** At this pace the bare processes run until their code is compiled. */
const WARM_UP = { perSecond: 200, seconds: 8 } as const

/** The bare path on the same stores and receivers. */
export interface Floor {
  /** Measures it at a pace: each slice of the product has its own right after it, or before it. */
  runPace(perSecond: number, seconds: number, print: (line: string) => void): Promise<void>
  report(product: Delays, print: (line: string) => void): void
}

/**
 * Starts the bare path (`bare-path.ts`): the commands of a lone invoice and nothing else, so what it needs is the least that this design can
 * need on this machine. The product's processes rest beside it.
 */
export async function openFloor(rig: Rig, stage: DeliveryStage, meter: WorkMeter): Promise<Floor> {
  const db = await rig.openDatabase()
  const endpoints = stage.endpoints.map(({ id: _id, workspaceId, url, secret }) => ({ _id, workspaceId, url, secret }))
  await db.collection(WEBHOOK_ENDPOINTS).insertMany(await rig.api.db.collection(WEBHOOK_ENDPOINTS).find().toArray())
  const { mongoUrl, redisUrl } = rig.stores
  const path: BarePath = { mongoUrl, redisUrl, database: db.name, endpoints }
  const start = async (role: 'api' | 'relay') => {
    const port = await freePort()
    const child = await rig.startHelper('bench/bare-path.ts', port, {
      ...{ BARE_ROLE: role, BARE_PORT: String(port), BARE_PATH: JSON.stringify(path) },
      BENCH_TEMPLATE: mongoose.mongo.BSON.EJSON.stringify(rig.template),
    })
    return { child, origin: `http://127.0.0.1:${port}` }
  }
  const [api, relay] = [await start('api'), await start('relay')]
  const { mongod, redis } = await storeProcesses(rig.api.db, rig.stores.redisUrl)
  const processes = { api: api.child, relay: relay.child, mongod: processOf(mongod), redis: processOf(redis) }
  const delays: Delays = new Map()
  await stage.create({ perSecond: WARM_UP.perSecond }, WARM_UP.seconds, api.origin)
  await pause(TAIL_MS)
  await stage.take()
  return {
    runPace: (perSecond, seconds, print) =>
      runPace({ stage, meter, processes, seconds, origin: api.origin, print }, perSecond, delays),
    report: (product, print) => {
      reportPaces(delays, (line) => print(`floor: ${line}`))
      reportRatios(product, delays, print)
    },
  }
}
