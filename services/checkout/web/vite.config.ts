import { defineConfig } from 'vite'

/** Small and without a polyfill: the policy of the page allows no inline script. */
export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { modulePreload: { polyfill: false }, target: 'es2022', assetsInlineLimit: 0 },
})
