import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'
import './page.css'
import { referencePlugin } from './reference-plugin.ts'

// Swagger UI has its dark colours under this class and leaves the choice to the page.
const dark = matchMedia('(prefers-color-scheme: dark)')
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', paint)
paint()

SwaggerUI({
  url: '/api/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  filter: true,
  docExpansion: 'list',
  // API keys are server-side secrets: this page does not accept one, so it sends nothing.
  supportedSubmitMethods: [],
  validatorUrl: null,
  plugins: [referencePlugin],
})
