// Loaded before the application, as `deno test --preload` does: lib/runtime then keeps to the public API.
Reflect.set(globalThis, Symbol.for("stackroom.public_api_only"), true);
