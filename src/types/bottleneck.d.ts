// The light build has the same interface, but comes without types.
declare module 'bottleneck/light.js' {
  export { default } from 'bottleneck'
}
