import type { ServiceParts, Stop } from '#services/context.ts'
import type { ProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { outboxJobOf, shardOfJob } from '#shared/ports/invoices.ts'
import type { Stopwatch } from '#shared/ports/timers.ts'
import { WORKERS } from '#shared/queues/workers.ts'
import { createDispatcher, type Dispatcher } from '#shared/usecases/deliveries/dispatch.ts'
import type { DispatchDeliveriesDeps, DispatchLane } from '#shared/usecases/deliveries/dispatch-process.ts'
import { type ReleasePausedDeps, releasePaused } from '#shared/usecases/deliveries/resend.ts'
import { createBackgroundTrimmer } from '#shared/usecases/outbox/outbox-memory.ts'
import { createOutboxRelay, type RelayDeps } from '#shared/usecases/outbox/relay.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { startRelayLease } from './relay-lease.ts'

/** On stop, receivers that have not responded by then are cut off; their deliveries are sent again under the same ids. */
const STOP_GRACE_MS = 3_000

/** The parts of the `webhooks` process. */
export interface WebhooksParts
  extends ServiceParts,
    Pick<
      DispatchDeliveriesDeps,
      'secretBox' | 'allowLocalhost' | 'stopwatch' | 'maxInFlight' | 'endpointInFlightMax' | 'processes'
    > {
  readonly http: DispatchDeliveriesDeps['http'] & { close(): Promise<void> }
  readonly urls: RelayDeps['urls']
  /** Endpoints served at the same time on the normal lane; the slow one gets a quarter of it, and at least one. */
  readonly concurrency: number
}

/**
 * The relay of saved outbox entries, in one process at a time, which hands new deliveries to the dispatcher of the same process; both lanes of
 * that dispatcher, each with a worker; and the loops over paused deliveries and over endpoints at their own limit. Stopping closes `http`.
 */
export function assembleWebhooks(parts: WebhooksParts): Stop {
  const { http, outboundPause, concurrency, stopwatch } = parts
  const dispatcher = createDispatcher(parts)
  const trimmer = createBackgroundTrimmer(parts)
  const isCoreFull = createCoreUse(stopwatch)
  const attempts = {
    // The relay is in one process: when its core is full, others make the first attempts as well.
    isPaused: async () => (parts.processes() > 1 && isCoreFull()) || (await outboundPause.isPaused()),
    claim: dispatcher.claimInserted,
    wake: (endpointId: string) => dispatcher.wake(endpointId),
  }
  const relay = createOutboxRelay(parts, { attempts, trimmer, stopwatch })
  const stopRelay = startRelayLease(parts, () =>
    parts.startWorker({
      ...WORKERS.outbox,
      handle: (id) => relay.relayShard(shardOfJob(id)),
      sweep: async () => (await relay.overdueShards()).map(outboxJobOf),
    }),
  )
  const worker = (lane: DispatchLane, concurrency: number) =>
    parts.startWorker({
      ...(lane === 'slow' ? WORKERS.webhooksSlow : WORKERS.webhooks),
      concurrency,
      handle: async (endpointId) => ((await outboundPause.isPaused()) ? null : dispatcher.drain(lane, endpointId)),
      sweep: async () => {
        const due = await dispatcher.overdue(lane)
        // Mostly nothing is due, and then nothing has to wait.
        return due.length > 0 && (await outboundPause.isPaused()) ? [] : due
      },
    })
  const workers = [worker('normal', concurrency), worker('slow', Math.max(1, Math.ceil(concurrency / 4)))]
  const stopLoops = [startPausedRowsLoop(parts), startLimitedEndpointsLoop(parts, dispatcher)]
  return async () => {
    const cutOff = parts.after(STOP_GRACE_MS, () => void http.close())
    await Promise.all([
      ...stopLoops.map((stop) => stop()),
      ...[stopRelay(), dispatcher.stop()],
      ...workers.map((each) => each.stop()),
    ])
    // The last round of the relay may have inserted claimed rows after the dispatcher stopped: they are released, and nothing is left behind.
    await dispatcher.idle()
    await trimmer.flush()
    cutOff()
    await http.close()
  }
}

/** Runs `round` every `everyMs`, and at once if `isAtOnce`. Returns a function that ends the loop. `round` must not reject. */
function repeat(everyMs: Ms, round: () => Promise<void>, isAtOnce = true): () => Promise<void> {
  let running: Promise<void> = isAtOnce ? round() : Promise.resolve()
  const timer = setInterval(() => {
    running = round()
  }, everyMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    return running
  }
}

/** Only for rows left behind by a race or a crash. */
const PAUSED_ROWS_EVERY_MS = 30_000

/** Searches paused deliveries whose endpoint is enabled or deleted, now and every 30 s. */
const startPausedRowsLoop = (deps: ReleasePausedDeps & Uses<'logger'>) =>
  repeat(PAUSED_ROWS_EVERY_MS, () =>
    releasePaused(deps).catch((error: unknown) => {
      deps.logger.error({ err: error }, 'paused deliveries could not be checked')
    }),
  )

/** As often as the figures are collected. */
const LIMITED_EVERY_MS = 5_000

/**
 * Reports every 5 s which endpoints were at their own limit since the last time: one write of a process, however many they are. A
 * report that fails is left out.
 */
const startLimitedEndpointsLoop = (
  { limitedEndpoints, logger }: Uses<'limitedEndpoints' | 'logger'>,
  dispatcher: Pick<Dispatcher, 'takeLimited'>,
) =>
  repeat(
    LIMITED_EVERY_MS,
    () =>
      limitedEndpoints.report(dispatcher.takeLimited()).catch((error: unknown) => {
        logger.warn({ err: error }, 'endpoints at their own limit could not be reported')
      }),
    false,
  )

/** The interval of heartbeats. */
const HEARTBEAT_EVERY_MS = 15_000

/**
 * How many `webhooks` processes are alive, by their heartbeats: read now and every 15 s. At least one. While heartbeats cannot be read the
 * last number stands.
 */
export function startProcessCount({
  heartbeats,
  clock,
  logger,
}: Uses<'clock' | 'logger'> & { readonly heartbeats: Pick<ProcessHeartbeats, 'countLive'> }) {
  let live = 1
  const stop = repeat(HEARTBEAT_EVERY_MS, () =>
    heartbeats.countLive('webhooks', clock.now()).then(
      (found) => {
        live = Math.max(1, found)
      },
      (error: unknown) => logger.debug({ err: error }, 'the live webhooks processes could not be counted'),
    ),
  )
  return { count: () => live, stop }
}

/** JavaScript runs on one core: above this part of it the process has no time left for more. */
const FULL_ABOVE = 0.8
const MEASURED_FOR_MS: Ms = 1_000

/**
 * Whether this process used more than four fifths of a core over the last second or longer, measured between two calls. Processor time counts,
 * not time that passed: where others have the cores, more processes are no help. `cpuMs()` is the processor time of the process so far.
 */
export function createCoreUse(stopwatch: Stopwatch, cpuMs: () => number = processCpuMs): () => boolean {
  let last = { at: stopwatch(), cpu: cpuMs() }
  let isFull = false
  return () => {
    const at = stopwatch()
    if (at - last.at < MEASURED_FOR_MS) return isFull
    const cpu = cpuMs()
    isFull = cpu - last.cpu > FULL_ABOVE * (at - last.at)
    last = { at, cpu }
    return isFull
  }
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
