import { backUp, restoreElsewhere } from './back-ups.ts'
import { openShop, payOnChain, startByPage } from './install.ts'
import { fillDisk, killOnce, tryUnknownSetting, tryWrongMasterKey } from './mishaps.ts'
import type { Story } from './story.ts'

/** The one-process form, on a machine and then on a second one. */
export async function drillOneProcess(story: Story): Promise<void> {
  const machine = await story.open({ name: 'shop' })
  await startByPage(story, machine)
  const shop = await openShop(story, machine)
  await payOnChain(story, shop, 'after the start')
  const archive = await backUp(story, machine)
  await restoreElsewhere(story, machine, archive, shop)
  await killOnce(story, machine, shop, 'serve')
  await killOnce(story, machine, shop, 'mongo-0')
  await fillDisk(story, machine)
  await tryUnknownSetting(story, machine)
  await tryWrongMasterKey(story, machine)
}
