import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type GuardedChild, startGuarded } from '#dev/embedded/guarded-child.ts'
import { type ComposeFile, readValues } from './compose-file.ts'

/** Addresses of this machine, one for each container, and the load balancer in front. */
export interface Network {
  /** The address of a container, below 127.0.0.0/8: ports are those of the Compose file. */
  address(service: string, slot: number): string
  /** `/etc/hosts` of every container. */
  hosts(file: ComposeFile): string
  /** haproxy in the place of Caddy, with the names and upstreams of the Caddyfile. */
  openBalancer(build: string, folder: string): Promise<void>
  closeBalancer(): Promise<void>
  /** Address and port of the balancer with TLS, for any name. */
  readonly tls: string
  /** The balancer without TLS, for one upstream: as with the name of that upstream. */
  plainUrl(upstream: string): string
  /** Tells the balancer whether a container of an upstream gets new requests. */
  drain(upstream: string, slot: number, isDrained: boolean): Promise<void>
  /** PEM file of the certificate. */
  readonly certificate: string
}

const SLOTS = 8
const PLAIN_PORTS: Readonly<Record<string, number>> = { api: 8080, checkout: 8081, admin: 8082 }
/** How many containers of a service the balancer looks for. */
const UPSTREAMS = 2

/** A network of random addresses, so that drills run side by side. */
export function createNetwork(dir: string): Network {
  const base = `127.${randomInt(10, 250)}.${randomInt(1, 250)}`
  const indexes = new Map<string, number>()
  const address = (service: string, slot: number): string => {
    const index = indexes.get(service) ?? indexes.size
    indexes.set(service, index)
    return `${base}.${10 + index * SLOTS + slot}`
  }
  const front = `${base}.2`
  const certificate = join(dir, 'certificate.pem')
  const socket = join(dir, 'haproxy.sock')
  let balancer: GuardedChild | null = null
  const closeBalancer = async (): Promise<void> => {
    await balancer?.stop(5_000)
    balancer = null
  }
  return {
    address,
    hosts: ({ services }) => {
      const lines = [...services.values()].flatMap(({ name, hostNames }) =>
        hostNames.map((host) => `${address(name, 0)} ${host}`),
      )
      return ['127.0.0.1 localhost', ...lines, ''].join('\n')
    },
    openBalancer: async (build, folder) => {
      if (balancer !== null && !balancer.hasExited()) return
      const values = readValues(join(folder, '.env'))
      const sites = sitesOf(readFileSync(join(build, 'deploy/compose/Caddyfile'), 'utf8'), values)
      makeCertificate(
        dir,
        certificate,
        sites.map(({ host }) => host),
      )
      const slots = (upstream: string): readonly string[] => {
        const isAlone = values['COMPOSE_FILE'] === 'serve.yaml'
        if (isAlone) return [address('serve', 0)]
        return Array.from({ length: UPSTREAMS }, (_, slot) => address(upstream, slot))
      }
      const file = join(dir, 'haproxy.cfg')
      writeFileSync(file, configuration({ front, certificate, socket, sites, slots }))
      balancer = await startGuarded('haproxy', ['-f', file, '-db', '-q'], { stdio: 'ignore' })
      await delay(500)
      if (balancer.hasExited()) throw new Error(`haproxy did not start with ${file}`)
    },
    closeBalancer,
    tls: `${front}:8443`,
    plainUrl: (upstream) => `http://${front}:${PLAIN_PORTS[upstream]}`,
    drain: async (upstream, slot, isDrained) => {
      const command = `set server ${upstream}/${slot} state ${isDrained ? 'drain' : 'ready'}\n`
      const { connect } = await import('node:net')
      await new Promise<void>((resolve, reject) => {
        const link = connect(socket, () => link.end(command))
        link.once('error', reject)
        link.once('close', () => resolve())
        link.resume()
      })
    },
    certificate,
  }
}

interface Site {
  readonly host: string
  readonly upstream: string
  readonly port: string
}

/** `{$API_HOST} { import paymesh api 4100 }` and so on. Throws when the Caddyfile names no site. */
function sitesOf(caddyfile: string, values: Readonly<Record<string, string>>): readonly Site[] {
  const found = [...caddyfile.matchAll(/^\{\$(\w+)\} \{\s+import paymesh (\w+) (\d+)\s+\}/gm)]
  if (found.length === 0) throw new Error('the Caddyfile names no site')
  return found.map(([, name = '', upstream = '', port = '']) => {
    const host = values[name]
    if (host === undefined) throw new Error(`.env has no ${name}`)
    return { host, upstream, port }
  })
}

function makeCertificate(dir: string, file: string, hosts: readonly string[]): void {
  const key = join(dir, 'certificate.key')
  const names = `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}`
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', '/CN=drill', '-addext', names, '-keyout', key, '-out', `${file}.crt`],
    ],
    { stdio: 'ignore' },
  )
  writeFileSync(file, readFileSync(`${file}.crt`, 'utf8') + readFileSync(key, 'utf8'))
}

function configuration(parts: {
  readonly front: string
  readonly certificate: string
  readonly socket: string
  readonly sites: readonly Site[]
  readonly slots: (upstream: string) => readonly string[]
}): string {
  const { front, certificate, socket, sites, slots } = parts
  return [
    'global',
    `  stats socket ${socket} mode 600 level admin`,
    'defaults',
    '  mode http',
    '  timeout connect 2s',
    '  timeout client 60s',
    '  timeout server 60s',
    // A request that no process accepted goes to the next one; one that was sent is never repeated.
    '  option redispatch 1',
    '  retries 3',
    '  retry-on conn-failure',
    '  option forwardfor if-none',
    'frontend tls',
    `  bind ${front}:8443 ssl crt ${certificate}`,
    '  http-request del-header X-Forwarded-For',
    ...sites.map(({ host, upstream }) => `  use_backend ${upstream} if { hdr(host) -i ${host} }`),
    ...sites.flatMap(({ host, upstream }) => [
      `frontend plain-${upstream}`,
      `  bind ${front}:${PLAIN_PORTS[upstream]}`,
      // Browsers of the drill come from the name that the certificate has.
      `  http-request set-header Origin https://${host} if { req.hdr(Origin) -m found }`,
      `  default_backend ${upstream}`,
    ]),
    ...sites.flatMap(({ upstream, port }) => [
      `backend ${upstream}`,
      '  balance leastconn',
      '  http-reuse never',
      ...slots(upstream).map((address, slot) => `  server ${slot} ${address}:${port}`),
    ]),
    '',
  ].join('\n')
}
