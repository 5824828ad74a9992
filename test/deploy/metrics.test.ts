import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { ROOT } from '#scripts/bundle.mjs'
import { METRICS, type MetricDefinition } from '#shared/ports/metric-table.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { deployPath, deployText, deployYaml, imageCommands } from './deploy-files.ts'

const TABLE: Readonly<Record<string, MetricDefinition>> = METRICS
/** Names of Prometheus itself, Node's exporter and load balancers. */
const FOREIGN = ['up', 'process_', 'nodejs_', 'caddy_', 'nginx_']

const dashboards = readdirSync(deployPath('grafana', 'dashboards'))
const panelSchema = z.object({
  id: z.number(),
  title: z.string().min(1),
  type: z.enum(['timeseries', 'stat']),
  datasource: z.object({ type: z.literal('prometheus'), uid: z.literal('prometheus') }),
  gridPos: z.object({ x: z.number(), y: z.number(), w: z.number().positive(), h: z.number().positive() }),
  targets: z.array(z.object({ refId: z.string(), expr: z.string().min(1), legendFormat: z.string() })).min(1),
})
const dashboardSchema = z.object({
  uid: z.string().regex(/^paymesh-[a-z]+$/),
  title: z.string(),
  schemaVersion: z.number().min(36),
  panels: z.array(panelSchema).min(1),
})
const readDashboard = (file: string) => dashboardSchema.parse(JSON.parse(deployText('grafana', 'dashboards', file)))

/** Every expression of rules, dashboards and autoscalers, with where it stands. */
function expressions(): readonly (readonly [string, string])[] {
  const groups: { rules: { alert: string; expr: string }[] }[] = ['alerts.yml', 'processes.generated.yml'].flatMap(
    (file) => deployYaml('prometheus', file).groups,
  )
  const rules = groups.flatMap((group) => group.rules.map(({ alert, expr }) => [alert, expr] as const))
  const panels = dashboards.flatMap((file) =>
    readDashboard(file).panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => [`${file} ${title}`, expr] as const),
    ),
  )
  const scaler = /query: (.*)$/m.exec(deployText('helm', 'paymesh', 'templates', 'scaledobjects.yaml'))?.[1] ?? ''
  return [...rules, ...panels, ['autoscaler', scaler.replace(/\{\{.*?\}\}/, '"webhooks"')]]
}

/** Metric names of an expression; what is quoted, a label list or a function is none. */
function namesIn(expression: string): readonly { readonly name: string; readonly labels: readonly string[] }[] {
  const plain = expression.replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
  return [...plain.matchAll(/([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})?(?!\w|\s*\()/g)].flatMap(
    ([, name = '', selector = '']) => {
      if (!/_/.test(name) && name !== 'up') return []
      return [{ name, labels: [...selector.matchAll(/(\w+)\s*(?:=|!)/g)].map(([, label = '']) => label) }]
    },
  )
}

const FUNCTIONS = ['histogram_quantile']

it('names in rules, dashboards and autoscalers are in the table, with the labels that they have', () => {
  for (const [where, expression] of expressions()) {
    const names = namesIn(expression).filter(({ name }) => !FUNCTIONS.includes(name))
    expect(names.length, where).toBeGreaterThan(0)
    for (const { name, labels } of names) {
      if (FOREIGN.some((prefix) => name === prefix || (prefix.endsWith('_') && name.startsWith(prefix)))) continue
      const [, known = '', part = ''] = /^paymesh_(.*?)(_bucket|_count|_sum)?$/.exec(name) ?? []
      const definition = TABLE[known]
      expect(definition, `${where}: ${name}`).toBeDefined()
      expect(part !== '', `${where}: ${name}`).toBe(definition?.kind === 'histogram')
      expect([...(definition?.labels ?? []), 'le', 'instance', 'process'], where).toEqual(
        expect.arrayContaining([...labels]),
      )
    }
  }
})

it('finds names, so that the test above sees something', () => {
  expect(namesIn('sum by (queue_name) (rate(paymesh_made_up{queue="a_b",x!~"y"}[5m])) > 1')).toEqual([
    { name: 'paymesh_made_up', labels: ['queue', 'x'] },
  ])
})

/** Every metric that a source file uses by name. */
function usedNames(): ReadonlySet<string> {
  const used = new Set<string>()
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) visit(path)
      else if (/\.ts$/.test(entry.name) && !/test\.ts$|metric-table/.test(entry.name)) {
        for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/['`]([a-z][a-z0-9_$]*(?:\{\w+\}_\w+)?)['`]/g))
          used.add(name)
      }
    }
  }
  for (const folder of ['shared', 'services', 'scripts/service']) visit(join(ROOT, folder))
  return used
}

it('has no metric that nothing counts', () => {
  const used = usedNames()
  expect([...used].filter((name) => name.startsWith('payments_$'))).toHaveLength(1)
  const dead = Object.keys(METRICS).filter((name) => !used.has(name) && !/^payments_\w+_total$/.test(name))
  expect(dead).toEqual([])
})

it('figures with labels appear under exactly the labels of the table', async () => {
  const metrics = createMetrics({ defaults: false })
  metrics.count('mails_total', { result: 'sent', fault: 'none' })
  expect(await metrics.render()).toContain('paymesh_mails_total{result="sent",fault="none"} 1')
  expect(() => metrics.count('mails_total', { recipient: 'a@example.com' })).toThrow()
})

it('every dashboard parses, has one of each id, and overlaps nowhere', () => {
  const all = dashboards.map(readDashboard)
  expect(new Set(all.map(({ uid }) => uid)).size).toBe(all.length)
  for (const { panels, title } of all) {
    expect(new Set(panels.map(({ id }) => id)).size, title).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w } }) =>
      Array.from({ length: w }, (_, index) => `${x + index}:${y}`),
    )
    expect(new Set(cells).size, title).toBe(cells.length)
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24)
  }
})

it('Prometheus asks every process of the Procfile', () => {
  const [paymesh] = deployYaml('prometheus', 'prometheus.yml').scrape_configs
  expect(paymesh.dns_sd_configs[0].names.toSorted()).toEqual([...imageCommands().keys()].toSorted())
  expect(paymesh.dns_sd_configs[0].port).toBe(4110)
})
