import type { Repositories } from '#shared/db/create-repositories.ts'
import type { AuditMarks } from '#shared/ports/audit-marks.ts'
import type { AddressBook, Catalog } from '#shared/ports/chain-catalog.ts'
import type { Marks } from '#shared/ports/marks.ts'
import type { RateReader } from '#shared/ports/rates.ts'
import type { QueueNotifier, Runtime } from '#shared/ports/runtime.ts'
import type { AuditKeys, KeyHasher, OneTimeCodes, PasswordHasher, SecretBox } from '#shared/ports/secrets.ts'
import type { After, Stopwatch } from '#shared/ports/timers.ts'
import type { UrlGuard } from '#shared/ports/url-guard.ts'

/** Every repository of a process; each use case names those that it reads and writes. */
export type Store = Repositories

/** The devices of a process: what is not in the store. Each family of processes makes those that it needs. */
export interface Devices extends Runtime {
  readonly addressBook: AddressBook
  readonly after: After
  readonly auditKeys: AuditKeys
  readonly auditMarks: AuditMarks
  readonly catalog: Catalog
  readonly codes: OneTimeCodes
  readonly hasher: KeyHasher
  readonly marks: Marks
  readonly notifier: QueueNotifier
  readonly passwords: PasswordHasher
  readonly rates: RateReader
  readonly secretBox: SecretBox
  readonly stopwatch: Stopwatch
  readonly urlGuard: UrlGuard
}

/** The parts that a function uses, by their names in the store and among the devices. */
export type Uses<Name extends keyof (Store & Devices)> = Pick<Store & Devices, Name>
