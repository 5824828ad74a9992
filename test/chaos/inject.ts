import { setTimeout as delay } from 'node:timers/promises'
import { SERVICE_NAMES } from '#scripts/service/services.ts'
import type { Fault } from './fault-deck.ts'
import type { Installation } from './installation.ts'

/**
 * Injects one fault and ends it: links work again, suspended processes resume. Killed processes are restarted by their
 * supervisor. Resolves when the next fault may follow.
 */
export async function inject(installation: Installation, fault: Fault, random: () => number): Promise<void> {
  const { stack, mongo, redis } = installation
  switch (fault.kind) {
    case 'kill':
      return installation.kill(fault.process)
    case 'freeze':
      return await freeze(installation, fault.process, fault.ms)
    case 'mongo_freeze':
      return await mongo.freezePrimary(fault.ms)
    case 'redis_freeze':
      return await redis.freeze(fault.ms)
    case 'kill_together': {
      for (const process of fault.processes) installation.kill(process)
      return fault.andRedis ? await redis.replace() : undefined
    }
    case 'redis_kill':
      return await redis.kill()
    case 'redis_wipe':
      return await redis.wipe()
    case 'redis_replace':
      return await redis.replace()
    case 'mongo_step_down':
      return await mongo.stepDown()
    case 'mongo_kill':
      return await mongo.killPrimary()
    case 'rolling_restart':
      for (const name of SERVICE_NAMES) await stack.restart(name)
      return
    case 'link': {
      const links = installation.links[fault.link]
      const link = links[Math.floor(random() * links.length)]
      link?.fail(fault.fault)
      await delay(fault.ms)
      link?.heal()
    }
  }
}

async function freeze(installation: Installation, name: string, ms: number): Promise<void> {
  const thaw = installation.freeze(name)
  if (thaw === null) return
  await delay(ms)
  thaw()
}
