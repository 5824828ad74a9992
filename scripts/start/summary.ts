import type { DevInfo } from './dev-info.ts'

export interface SummaryFacts {
  readonly dataDir: string
  readonly logFile: string
  readonly seconds: number
}

/** Summary for a person when everything runs: addresses, keys and a first request to paste. */
export function summary(dev: DevInfo, { dataDir, logFile, seconds }: SummaryFacts): string {
  const processes = dev.pids === null ? 'one process' : `${Object.keys(dev.pids).length} processes`
  const rows = [
    ['API', dev.apiUrl],
    ['Dashboard', dev.adminUrl ?? ''],
    ['  log in', `${dev.ownerEmail ?? ''}  ${dev.ownerPassword ?? 'with your password'}`],
    ['Checkout', dev.checkoutUrl],
    ['Test key', dev.testKey],
    ['Live key', dev.liveKey],
    ...(dev.mailUrl === null ? [] : [['Mailbox', dev.mailUrl]]),
    ['Metrics', dev.metricsUrl],
    ...Object.entries(dev.rpcUrls).map(([network, url], index) => [
      index === 0 ? 'Local chains' : '',
      `${network.padEnd(9)} ${url}`,
    ]),
    ['MongoDB', dev.mongoUrl],
    ['Redis', dev.redisUrl ?? 'none: wake-ups stay in memory'],
    ['Log', logFile],
    ['All of this', `${dataDir}/dev.json`],
  ]
  const table = rows.map(([label = '', value = '']) => `  ${label.padEnd(12)} ${value}`).join('\n')
  return `
Paymesh runs (${processes}, up in ${seconds.toFixed(1)} s)

${table}

Create an invoice for 25 US dollars in USDT on the local Ethereum chain:

  curl -s ${dev.apiUrl}/invoices \\
    -H 'Authorization: Bearer ${dev.testKey}' \\
    -H 'Content-Type: application/json' \\
    -d '{"amount":"25.00","currency":"USD","asset":"usdt_ethereum"}'

Pay it with  npm run cli -- pay INVOICE_ID  · Ctrl-C stops everything, data stays.
`
}
