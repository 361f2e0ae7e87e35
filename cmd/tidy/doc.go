// Package tidy holds the rules of this house that a program can check, as
// tests: who may import whom, what packages that decide must not use, and
// what no file may contain. The rules are tables; each ban has its reason.
package tidy
