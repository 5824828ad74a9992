import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '#dev/embedded/free-port.ts'
import { type GuardedChild, startGuarded } from '#dev/embedded/guarded-child.ts'

const ROOT = join(import.meta.dirname, '../..')
const SECRET = 'whsec_example'

/** The README's script; what its callback does is the path. */
const SCRIPT = `<?php
foreach (['ApiError', 'ConnectionFailed', 'WebhookRefused', 'resources', 'Transport', 'Paymesh', 'Webhook', 'WebhookHandler'] as $file) {
    require_once '${ROOT}/clients/php/src/' . $file . '.php';
}
$settle = function (Paymesh\\Invoice $invoice): void {
    match ($_SERVER['REQUEST_URI']) {
        '/throws' => throw new RuntimeException('the database is down'),
        '/exits' => exit('dumped'),
        '/exhausts' => str_repeat('x', 1 << 28),
        default => null,
    };
};
$client = new Paymesh\\Paymesh('pm_test_x', getenv('PAYMESH_API'), maxRetries: 0);
(new Paymesh\\WebhookHandler($client, '${SECRET}', $settle, $settle, $settle))->serve();
`

// Guarantee: no fault of a shop in PHP is answered with 200, which would end the deliveries of that event, however PHP is configured.
describe('a script of PHP that displays its errors', () => {
  const api = createServer((_, response) => response.end(invoice))
  let folder: string
  let invoice: string
  let event: string
  let php: GuardedChild
  let url: string
  beforeAll(async () => {
    event = await readFile(join(ROOT, 'docs/events/invoice.paid.json'), 'utf8')
    invoice = JSON.stringify({ data: JSON.parse(event).data.object, error: null, request_id: 'req_1' })
    folder = await mkdtemp(join(tmpdir(), 'paymesh-php-'))
    await writeFile(join(folder, 'webhooks.php'), SCRIPT)
    api.listen(0, '127.0.0.1')
    await once(api, 'listening')
    const port = await freePort(0)
    url = `http://127.0.0.1:${port}`
    const env = { ...process.env, PAYMESH_API: `http://127.0.0.1:${(api.address() as AddressInfo).port}/api/v1` }
    const args = [
      '-d',
      'display_errors=1',
      '-d',
      'memory_limit=64M',
      '-S',
      `127.0.0.1:${port}`,
      join(folder, 'webhooks.php'),
    ]
    php = await startGuarded('php', args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    if (php.stderr !== null) await once(php.stderr, 'data')
  })
  afterAll(async () => {
    await php.stop(5_000)
    api.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function deliver(path: string): Promise<number> {
    const t = Math.floor(Date.now() / 1_000)
    const signature = `t=${t},v1=${createHmac('sha256', SECRET).update(`${t}.${event}`).digest('hex')}`
    const headers = { 'x-webhook-signature': signature }
    return (await fetch(url + path, { method: 'POST', body: event, headers })).status
  }

  it.each([
    ['settles', 204],
    ['throws', 500],
    ['exits', 500],
    ['exhausts', 500],
  ])('whose callback %s answers %i', async (what, status) => {
    expect(await deliver(`/${what}`)).toBe(status)
  })
})
