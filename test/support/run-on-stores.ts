import { type CommandResult, runCommand } from './run-command.ts'
import type { TestStores } from './stores.ts'

const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')

/** Runs a command line in this process on the stores of a test file, with keys that are the same for every call. */
export function runOnStores(stores: TestStores, ...args: readonly string[]): Promise<CommandResult> {
  return runCommand(args, {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    ...{ PAYMESH_MASTER_KEY: secret(7), PAYMESH_KEY_PEPPER: secret(8), PAYMESH_ENV: 'test' },
  })
}
