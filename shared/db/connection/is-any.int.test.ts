import type mongoose from 'mongoose'
import { expect, it } from 'vitest'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createRecoveryRepository } from '#shared/db/deliveries/recovery-repository.ts'
import { dueForActions, overdueInShards } from '#shared/db/invoices/invoice-mapping.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { createMailQueue, dueBy } from '#shared/db/mails/mail-queue.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createBacklogRepository } from '#shared/db/maintenance/backlog-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { stagesOf } from '#shared/db/schema/explain-plan.fixture.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { connectDatabase, type Database } from './connect.ts'
import { isAny } from './is-any.ts'

const stores = useStores()

/** The same database, and the names of the commands that were sent to it. */
function counted(): { readonly db: Database; readonly commands: string[] } {
  const commands: string[] = []
  const { db } = stores
  const collection: Database['collection'] = (model) =>
    new Proxy(db.collection(model), {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          commands.push(`${model.name} ${String(name)}`)
          return member.apply(target, args)
        }
      },
    })
  return { db: { ...db, collection }, commands }
}

const mailsDueBy = (until: number) => ({ of: MAILS, filter: dueBy(until), hint: 'mail_due' })
const invoicesDue = { of: INVOICES, filter: dueForActions(['none'], 1_000), hint: 'invoice_next_action' }
const shardsOverdue = { of: INVOICES, filter: overdueInShards([1], 1_000), hint: 'invoice_outbox' }

async function queueMail(): Promise<void> {
  const { clock, random } = stores.runtime
  const mail = { template: 'owner_notice', to: 'owner@example.com', data: {}, workspaceId: 'ws' } as const
  await createMailRepository(stores.db).insertMany([{ ...mail, id: random.uuid(), createdAt: clock.now() }])
}

it('is one command for the questions of one turn, each with its own answer', async () => {
  await queueMail()
  const { db, commands } = counted()
  const later = stores.runtime.clock.now() + 60_000
  const inputs = [
    isAny(db, invoicesDue),
    isAny(db, mailsDueBy(later)),
    isAny(db, shardsOverdue),
    isAny(db, mailsDueBy(0)),
  ]
  expect(await Promise.all(inputs)).toEqual([false, true, false, false])
  expect(commands).toEqual(['invoices aggregate'])
  // A later question is a later read: nothing is kept.
  await db.collection(MAILS).deleteMany({})
  commands.length = 0
  expect(await isAny(db, mailsDueBy(later))).toBe(false)
  expect(commands).toEqual(['mails findOne'])
})

it('answers the others when MongoDB refuses one question', async () => {
  const { db } = counted()
  const wrong = { of: MAILS, filter: { $unknown: 1 } as never, hint: 'mail_due' }
  const answers = await Promise.allSettled([isAny(db, invoicesDue), isAny(db, wrong), isAny(db, shardsOverdue)])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

// Guarantee: a collection that does not answer delays the sweep of that queue only.
deepTest('answers the others while one question takes long', async () => {
  await queueMail()
  const { db } = counted()
  const order: string[] = []
  const slow = { of: MAILS, filter: { $where: 'sleep(2500) || true' } as never, hint: '_id_' }
  await Promise.all([
    isAny(db, slow).then((found) => order.push(`slow ${found}`)),
    isAny(db, invoicesDue).then((found) => order.push(`invoices ${found}`)),
  ])
  expect(order).toEqual(['invoices false', 'slow true'])
})

it('fails every question when the connection is lost', async () => {
  const db = await connectDatabase({ url: stores.mongoUrl, name: stores.database, logger: stores.runtime.logger })
  await db.close()
  const answers = await Promise.allSettled([isAny(db, invoicesDue), isAny(db, shardsOverdue)])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

// Guarantee: no question of the sweeps reads a collection through, although it names no index when it is asked with others.
it('is served by indexes alone, whatever is asked together', async () => {
  // Nothing is found: every further question would be that of a queue which has something.
  await stores.db.collection(MAILS).deleteMany({})
  const url = new URL(stores.mongoUrl)
  url.searchParams.set('monitorCommands', 'true')
  const { runtime } = stores
  const db = await connectDatabase({ url: url.href, name: stores.database, logger: runtime.logger })
  const pipelines: mongoose.mongo.Document[] = []
  db.connection.getClient().on('commandStarted', ({ command }: mongoose.mongo.CommandStartedEvent) => {
    if (command['aggregate'] !== undefined) pipelines.push({ of: command['aggregate'], stages: command['pipeline'] })
  })
  try {
    const [invoices, backlogs] = [createInvoiceRepository(db), createBacklogRepository(db)]
    await Promise.all([
      ...[invoices.isAnyDue(['none', 'test:ethereum'], 0), invoices.overdueOutboxShards(0)],
      createPaymentRepository(db, runtime.random).takeDirtyInvoices({ before: 0, at: 0, limit: 1 }),
      createDeliveryRepository(db).dueEndpoints(0, 1),
      createMailQueue(db).due(0, 1),
      createRecoveryRepository(db).due(0, 1),
      createAuditChainRepository(db).isAnyWaiting(),
      ...[backlogs.queues(0), backlogs.openExceptions(), backlogs.oldestDeadline('none', 0)],
    ])
    expect(pipelines).toHaveLength(1)
    const [{ of, stages }] = pipelines as [mongoose.mongo.Document]
    const question = { aggregate: of, pipeline: stages, cursor: {} }
    const native = db.connection.getClient().db(db.name)
    const plan = await native.command({ explain: question, verbosity: 'queryPlanner' })
    const read = stagesOf(plan)
    expect(read.filter(({ stage }) => stage === 'COLLSCAN')).toEqual([])
    expect(read.filter(({ indexName }) => indexName !== undefined).length).toBeGreaterThanOrEqual(stages.length - 2)
  } finally {
    await db.close()
  }
})
