import { openShop, payOnChain, startByPage } from './install.ts'
import type { Story } from './story.ts'

/** The one-process form, on a machine and then on a second one. */
export async function drillOneProcess(story: Story): Promise<void> {
  const shop = await story.open({ name: 'shop' })
  await startByPage(story, shop)
  const merchant = await openShop(story, shop)
  await payOnChain(story, merchant, 'after the start')
}
