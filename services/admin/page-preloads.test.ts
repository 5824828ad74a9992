import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createPagePreloads } from './app.ts'

const folder = mkdtempSync(join(tmpdir(), 'paymesh-preloads-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const chunk = (file: string, imports: string[] = [], css: string[] = []) => ({ file: `assets/${file}`, imports, css })
const group = (name: string, imports: string[]) => ({ ...chunk(`${name}.js`, imports), name })
mkdirSync(join(folder, '.vite'))
writeFileSync(
  join(folder, '.vite/manifest.json'),
  JSON.stringify({
    '_main-Cx1.js': group('main', ['_vendor.js']),
    '_vendor.js': chunk('vendor.js'),
    '_part.js': chunk('part.js', ['_vendor.js']),
    '_frame-Cx2.js': group('frame', ['_part.js']),
    'src/pages/login/login-page.tsx': chunk('login.js'),
    'src/pages/overview/overview-page.tsx': chunk('overview.js', ['_part.js', '_main-Cx1.js'], ['assets/overview.css']),
    'src/pages/deliveries/deliveries-page.tsx': chunk('deliveries.js'),
  }),
)
const preloads = createPagePreloads(folder)
const script = (...names: string[]) => names.map((name) => `</assets/${name}.js>; rel=modulepreload`).join(', ')

test('a path names the files of the program, of its page and of what they import, each once', () => {
  expect(preloads('/login')).toBe(script('main', 'vendor', 'login'))
  const css = '</assets/overview.css>; rel=preload; as=style; crossorigin'
  expect(preloads('/w1/test/overview')).toBe(`${script('main', 'vendor', 'frame', 'part', 'overview')}, ${css}`)
  expect(preloads('/w1/live/webhooks/deliveries')).toBe(script('main', 'vendor', 'frame', 'part', 'deliveries'))
})

test('an unknown or deeper path names the program and the frame, and a build without a manifest nothing', () => {
  for (const path of ['/', '/w1/test/invoices/0197', '/w1/test/none', '/w1/test/__proto__']) {
    expect(preloads(path), path).toBe(script('main', 'vendor', 'frame', 'part'))
  }
  expect(createPagePreloads(join(folder, 'none'))('/login')).toBeNull()
})
