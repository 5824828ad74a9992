import { backUp, restoreElsewhere } from './back-ups.ts'
import { openShop, payOnChain, startByPage } from './install.ts'
import { fillDisk, killOnce, tryUnknownSetting, tryWrongMasterKey } from './mishaps.ts'
import { EDGES, replaceOneByOne, WORKERS } from './rolling.ts'
import type { Story } from './story.ts'

/** A process per type, with three members of MongoDB, Redis and two processes of the API. */
export async function drillProcessPerType(story: Story): Promise<void> {
  const machine = await story.open({ name: 'shop', commit: story.earlier })
  await startByPage(story, machine)
  const shop = await openShop(story, machine)
  await payOnChain(story, shop, 'after the start')
  await replaceOneByOne(story, machine)
  const archive = await backUp(story, machine)
  await restoreElsewhere(story, machine, archive, shop)
  for (const service of [...WORKERS, ...EDGES]) await killOnce(story, machine, shop, service)
  await killOnce(story, machine, shop, await machine.primary())
  await killOnce(story, machine, shop, 'redis')
  await fillDisk(story, machine)
  await tryUnknownSetting(story, machine)
  await tryWrongMasterKey(story, machine)
}
