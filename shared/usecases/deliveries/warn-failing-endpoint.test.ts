import { expect, test } from 'vitest'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { Store } from '#shared/usecases/uses.ts'
import { standIn } from '#test/support/stand-in.ts'
import { warnFailingEndpoint } from './send.ts'

const endpoint = { id: 'endpoint', workspaceId: 'shop', url: 'https://shop.test/hook' } as WebhookEndpoint
const workspace = { id: 'shop', ownerEmail: 'owner@example.com' } as Workspace

/** Mails made after the endpoint's deliveries finished in this order, oldest first. */
async function mailsAfter(
  statuses: readonly Delivery['status'][],
  known: readonly string[] = [],
): Promise<readonly string[]> {
  const mails: MailRecord[] = []
  const newestFirst = statuses.map((status, index) => ({ id: `whd_${index}`, status, finishedAt: index })).reverse()
  const deps = {
    deliveries: standIn<Store['deliveries']>({
      lastFinished: (_id: string, limit: number) => Promise.resolve(newestFirst.slice(0, limit)),
    }),
    mails: {
      insertMany: (rows: readonly MailRecord[]) => Promise.resolve(void mails.push(...rows)),
      hasAny: (ids: readonly string[]) => Promise.resolve(ids.some((id) => known.includes(id))),
    },
    workspaces: standIn<Store['workspaces']>({ findById: () => Promise.resolve(workspace) }),
    notifier: { notify: () => undefined },
    clock: { now: () => 0 },
  }
  await warnFailingEndpoint(deps, endpoint)
  return mails.map((mail) => mail.id)
}

const failed = (count: number) => Array.from({ length: count }, () => 'failed' as const)

test('two failures in a row are not worth a mail, three are', async () => {
  expect(await mailsAfter(['failed', 'succeeded', ...failed(2)])).toEqual([])
  expect(await mailsAfter(['failed', 'succeeded', ...failed(3)])).toEqual(['endpoint-failing:endpoint:whd_2'])
})

// Guarantee: an endpoint that fails for good is mailed about even when nobody looked between its third and its last failure.
test('a crowd that fails at the same moment is mailed about under the first of it', async () => {
  expect(await mailsAfter(['succeeded', ...failed(40)])).toEqual(['endpoint-failing:endpoint:whd_1'])
  expect(await mailsAfter(failed(400))).toEqual(['endpoint-failing:endpoint:whd_0'])
})

test('a streak that outgrew what is looked at was mailed long ago', async () => {
  expect(await mailsAfter(failed(5_000))).toEqual([])
})

// Guarantee: one mail for each streak.
test('a failure that is recorded late and stands before the first one known makes no second mail', async () => {
  expect(await mailsAfter(failed(4), ['endpoint-failing:endpoint:whd_1'])).toEqual([])
  const newStreak = [...failed(3), 'succeeded' as const, ...failed(3)]
  expect(await mailsAfter(newStreak, ['endpoint-failing:endpoint:whd_0'])).toEqual(['endpoint-failing:endpoint:whd_4'])
})
