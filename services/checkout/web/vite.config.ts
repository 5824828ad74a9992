import { join } from 'node:path'
import { defineConfig } from 'vite'

/** Small and without a polyfill: the policy of the page allows no inline script. */
export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    // The pages without a script have a style sheet of their own beside that of the page (services/checkout/pages.ts).
    rolldownOptions: { input: ['index.html', 'src/styles/plain.css'].map((file) => join(import.meta.dirname, file)) },
    modulePreload: { polyfill: false },
    target: 'es2022',
    assetsInlineLimit: 0,
  },
})
