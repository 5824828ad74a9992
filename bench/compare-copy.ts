import type mongoose from 'mongoose'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { ADDRESSES } from '#shared/db/wallets/wallet-models.ts'

/** What a restore leaves as it was; its precautions write to the other collections. */
const COMPARED = [INVOICES, PAYMENTS, EVENTS, WEBHOOK_DELIVERIES, WEBHOOK_ATTEMPTS, EXCEPTIONS, ADDRESSES, AUDIT_LOG]
/** Rows of the back-up and of the restore themselves, which the other database does not have. */
const OF_THE_COPYING = /^(backup\.ended|installation-restored):/
const BATCH = 2_000

/** Result of a comparison, in documents. */
export interface Comparison {
  readonly same: number
  /** Different or missing on one side, although nothing wrote it meanwhile: the first of them, as `<collection> <id>`. */
  readonly wrong: readonly string[]
  /** Written while the back-up ran, and therefore of the state at its end or of a later one. */
  readonly changed: number
}

/** Compares documents byte by byte, in the order of their ids; `touched` are those that were written while the back-up ran. */
export async function compareCopy(source: Database, copy: Database, touched: ReadonlySet<string>): Promise<Comparison> {
  let [same, changed] = [0, 0]
  const wrong: string[] = []
  for (const { name } of COMPARED) {
    const [ours, theirs] = [rawOf(source, name), rawOf(copy, name)]
    let [one, other] = [await ours.next(), await theirs.next()]
    while (one.done !== true || other.done !== true) {
      const order = compareIds(one.value?.id, other.value?.id)
      const id = (order <= 0 ? one.value?.id : other.value?.id) ?? ''
      if (order === 0 && one.value?.bytes.equals(other.value?.bytes ?? Buffer.alloc(0)) === true) same += 1
      else if (touched.has(`${name} ${id}`)) changed += 1
      else if (!OF_THE_COPYING.test(id)) wrong.push(`${name} ${id}`)
      if (order <= 0) one = await ours.next()
      if (order >= 0) other = await theirs.next()
    }
  }
  return { same, wrong, changed }
}

/** Ids in the order of the store, which is that of their UTF-8 bytes; an absent one is the last. */
function compareIds(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? 1 : -1
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

async function* rawOf(
  db: Database,
  name: string,
): AsyncGenerator<{ readonly id: string; readonly bytes: Buffer }, undefined> {
  const options = { raw: true, sort: { _id: 1 }, batchSize: BATCH } as mongoose.mongo.FindOptions
  const native = db.connection.getClient().db(db.name)
  for await (const found of native.collection(name).find({}, options)) {
    const bytes = Buffer.from(found as unknown as Buffer)
    yield { id: idOf(bytes), bytes }
  }
}

/** `_id` is the first field of a stored document, and a text: BSON type 2, its name, its length with the final zero, its bytes. */
function idOf(bytes: Buffer): string {
  if (bytes[4] !== 2 || bytes.toString('latin1', 5, 9) !== '_id\0')
    throw new Error('a document begins without a text _id')
  return bytes.toString('utf8', 13, 13 + bytes.readInt32LE(9) - 1)
}
