import type { QueueName } from '#shared/ports/runtime.ts'
import type { Prng } from '../kernel/prng.ts'
import type { SimRedis, SimWorker } from './redis-port.ts'
import type { Sim } from './sim.ts'

interface RegisteredWorker extends SimWorker {
  running: number
}

interface ActiveJob {
  readonly worker: RegisteredWorker
  /** Woken again while it ran (`keepLastIfActive`). */
  again: boolean
}

interface Queue {
  readonly waiting: string[]
  readonly active: Map<string, ActiveJob>
  readonly workers: RegisteredWorker[]
}

/** After so long the job of a dead worker is found and given to another: lock 8 s and two checks of 2 s. */
const STALLED_MS = 9_000
const DELAY_MAX_MS = 48 * 3_600_000

/** A Redis that is up and empty. */
export function createSimRedis(sim: () => Sim, luck: Prng): SimRedis {
  const queues = new Map<QueueName, Queue>()
  const epochs = new Map<string, number>()
  const markers = new Map<string, { owner: string; until: number }>()
  let downSince = 0

  const queueOf = (name: QueueName): Queue => {
    const known = queues.get(name)
    if (known !== undefined) return known
    const queue: Queue = { waiting: [], active: new Map(), workers: [] }
    queues.set(name, queue)
    return queue
  }

  const feed = (name: QueueName): void => {
    if (!redis.up) return
    const queue = queueOf(name)
    for (let at = 0; at < queue.waiting.length; ) {
      const id = queue.waiting[at] as string
      if (queue.active.has(id)) {
        at += 1
        continue
      }
      const free = queue.workers.filter(
        (one) => one.process.alive && !one.process.frozen && one.running < one.concurrency,
      )
      if (free.length === 0) return
      queue.waiting.splice(at, 1)
      start(name, id, luck.pick(free))
    }
  }

  const start = (name: QueueName, id: string, worker: RegisteredWorker): void => {
    const { scheduler } = sim()
    const queue = queueOf(name)
    const active: ActiveJob = { worker, again: false }
    queue.active.set(id, active)
    worker.running += 1
    const done = (): void => {
      scheduler.at(0, 'work', null, `job-done ${name} ${id}`, () => {
        worker.running -= 1
        if (queue.active.get(id) === active) {
          queue.active.delete(id)
          if (active.again) queue.waiting.push(id)
        }
        feed(name)
      })
    }
    scheduler.at(1, 'work', worker.process, `job ${name} ${id}`, () => void worker.handle(id).then(done, done))
  }

  const enqueue = (name: QueueName, id: string): void => {
    if (!redis.up) return
    const queue = queueOf(name)
    const running = queue.active.get(id)
    if (running !== undefined) running.again = true
    else if (!queue.waiting.includes(id)) queue.waiting.push(id)
    feed(name)
  }

  const redis: SimRedis = {
    up: true,
    epochs,
    markers,
    notify(process, name, id) {
      const { scheduler, mix, fault } = sim()
      if (!redis.up) return
      if (luck.chance(mix.jobLost)) return fault(`F6 job lost`, `${process.name} ${name} ${id}`)
      // A burst travels together after 2 ms.
      scheduler.at(2 + luck.next() * 2, 'work', null, `wake-up ${name} ${id}`, () => enqueue(name, id))
      if (luck.chance(mix.jobDuplicated)) {
        fault('F6 job duplicated')
        scheduler.at(2 + luck.next() ** 2 * 60, 'work', null, `wake-up again ${name} ${id}`, () =>
          duplicate(name, id, luck.next()),
        )
      }
      if (luck.chance(mix.jobDelayed)) {
        fault('F6 job delayed')
        scheduler.at(luck.next() ** 4 * DELAY_MAX_MS, 'world', null, `late wake-up ${name} ${id}`, () =>
          enqueue(name, id),
        )
      }
    },
    register(worker) {
      queueOf(worker.queue).workers.push({ ...worker, running: 0 })
      feed(worker.queue)
    },
    wipe() {
      for (const queue of queues.values()) {
        queue.waiting.length = 0
        queue.active.clear()
      }
      epochs.clear()
      markers.clear()
    },
    setUp(up) {
      if (up === redis.up) return
      redis.up = up
      downSince = sim().scheduler.now
      if (up) for (const name of queues.keys()) feed(name)
    },
    isHealthy: () => redis.up,
    unhealthyForMs: () => (redis.up ? 0 : sim().scheduler.now - downSince),
    forget(process) {
      for (const [name, queue] of queues) {
        const mine = queue.workers.findIndex((one) => one.process === process)
        if (mine >= 0) queue.workers.splice(mine, 1)
        for (const [id, active] of queue.active) {
          if (active.worker.process !== process) continue
          sim().scheduler.at(STALLED_MS, 'world', null, `stalled ${name} ${id}`, () => {
            if (queue.active.get(id) !== active) return
            queue.active.delete(id)
            enqueue(name, id)
          })
        }
      }
    },
  }

  /** A lock that ran out although its worker lives: two run the same id at once. */
  const duplicate = (name: QueueName, id: string, luck: number): void => {
    const queue = queueOf(name)
    const alive = queue.workers.filter((one) => one.process.alive && !one.process.frozen)
    const worker = alive[Math.floor(luck * alive.length)]
    if (worker === undefined || !redis.up) return
    worker.running += 1
    const done = (): void => {
      worker.running -= 1
    }
    sim().scheduler.at(
      0,
      'work',
      worker.process,
      `job twice ${name} ${id}`,
      () => void worker.handle(id).then(done, done),
    )
  }
  return redis
}
