import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startStores } from '#dev/embedded/stores.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { mostExamined } from '#test/growth/declare.ts'
import { type Cost, costOf } from '#test/growth/measure.ts'
import { QUESTIONS } from '#test/growth/questions.ts'
import { seedGrowth } from '#test/growth/seed.ts'
import type { BenchOptions } from './options.ts'

/** The second database has one invoice for this many of the first. */
const SHARE = 100
/** With fewer invoices there is no middle, end and set of open ones. */
const INVOICES_MIN = 1_000

/**
 * Seeds the data of an installation after two years with `--invoices` invoices, and the same with a hundredth of them, runs every
 * declared query on both and prints what the store examined. Rows over their bound are marked, and the status is then 1.
 */
export async function benchGrowth({ invoices, print }: BenchOptions): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-growth-'))
  const { MONGO_URL: mongoUrl = null, REDIS_URL: redisUrl = null } = process.env
  const stores = await startStores({ dataDir, report: print, mongoUrl, redisUrl, roomy: true })
  try {
    const [few, many] = [Math.max(INVOICES_MIN, Math.round(invoices / SHARE)), invoices]
    const costs = [await costsWith(stores.mongoUrl, few, print), await costsWith(stores.mongoUrl, many, print)] as const
    print('')
    print(`| question | asked by | documents | keys | returned | ms | documents, keys with ${few} | bound |`)
    print('|---|---|---:|---:|---:|---:|---:|---|')
    let over = 0
    for (const [index, question] of QUESTIONS.entries()) {
      const [small, large] = [costs[0][index], costs[1][index]]
      if (small === undefined || large === undefined) continue
      const most = mostExamined(question, large.returned, { invoices: many })
      const isOver = Math.max(large.documents, large.keys) > most
      over += isOver ? 1 : 0
      const bound = `${isOver ? '**over** ' : ''}${most}${question.because === null ? '' : `: ${question.because}`}`
      const { documents, keys, returned, tookMs } = large
      const figures = [documents, keys, returned, tookMs.toFixed(1), `${small.documents}, ${small.keys}`]
      print(`| ${[question.name, question.caller, ...figures, bound].join(' | ')} |`)
    }
    print('')
    print(`${QUESTIONS.length} questions of ${many} invoices, ${over} over their bound`)
    if (over > 0) process.exitCode = 1
  } finally {
    await stores.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function costsWith(url: string, invoices: number, print: (line: string) => void): Promise<readonly Cost[]> {
  const logger = createLogger({ name: 'bench', level: 'silent' })
  const db: Database = await connectDatabase({ url, name: `growth_${randomUUID().slice(0, 8)}`, logger })
  try {
    await migrate(db)
    const facts = await seedGrowth(db, invoices, print)
    const costs: Cost[] = []
    for (const question of QUESTIONS) costs.push(await costOf(db, () => question.query(db, facts)))
    return costs
  } finally {
    await db.connection.dropDatabase()
    await db.close()
  }
}
