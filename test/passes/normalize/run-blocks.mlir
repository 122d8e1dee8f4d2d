// Execution twins: blocks as exporters decompose them, before and after normalization.
// RUN: %python %S/inputs/run_normalized.py %s | FileCheck %s --check-prefix=SAME --match-full-lines
// SAME-COUNT-3: the same: y
// RUN: cleave-opt --split-input-file --cleave-simplify --cse --cleave-raise-gelu --cleave-raise-norm --cleave-unflatten-heads --cleave-simplify --cse --cleave-raise-attention --cleave-simplify --cse %s | FileCheck %s
// CHECK-COUNT-3: cleave.attention
// CHECK-NOT: cleave.{{softmax|reduce}}

// A block of ViT-S: 3 heads of 4, the scale on queries and keys.
cleave.param @n1_scale : tensor<12xf32>
cleave.param @n1_bias : tensor<12xf32>
cleave.param @q : tensor<12x12xf32>
cleave.param @q_bias : tensor<12xf32>
cleave.param @k : tensor<12x12xf32>
cleave.param @k_bias : tensor<12xf32>
cleave.param @v : tensor<12x12xf32>
cleave.param @v_bias : tensor<12xf32>
cleave.param @o : tensor<12x12xf32>
cleave.param @o_bias : tensor<12xf32>
cleave.param @n2_scale : tensor<12xf32>
cleave.param @n2_bias : tensor<12xf32>
cleave.param @fc1 : tensor<12x7xf32>
cleave.param @fc1_bias : tensor<7xf32>
cleave.param @fc2 : tensor<7x12xf32>
cleave.param @fc2_bias : tensor<12xf32>
func.func @main(%x: tensor<2x5x12xf32> {cleave.name = "x"}) -> (tensor<2x5x12xf32> {cleave.name = "y"}) {
  %1 = cleave.reduce sum %x {dims = array<i64: 2>} : (tensor<2x5x12xf32>) -> tensor<2x5xf32>
  %2 = cleave.constant dense<0.08333333333333333> : tensor<2x5xf32>
  %3 = cleave.binary mul %1, %2 : tensor<2x5xf32>
  %4 = cleave.reshape %3 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
  %5 = cleave.broadcast %4 {dims = array<i64: 0, 1, 2>} : (tensor<2x5x1xf32>) -> tensor<2x5x12xf32>
  %6 = cleave.binary sub %x, %5 : tensor<2x5x12xf32>
  %7 = cleave.constant dense<2.0> : tensor<2x5x12xf32>
  %8 = cleave.binary pow %6, %7 : tensor<2x5x12xf32>
  %9 = cleave.reduce sum %8 {dims = array<i64: 2>} : (tensor<2x5x12xf32>) -> tensor<2x5xf32>
  %10 = cleave.constant dense<0.08333333333333333> : tensor<2x5xf32>
  %11 = cleave.binary mul %9, %10 : tensor<2x5xf32>
  %12 = cleave.reshape %11 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
  %13 = cleave.constant dense<0.5> : tensor<2x5x1xf32>
  %14 = cleave.binary add %12, %13 : tensor<2x5x1xf32>
  %15 = cleave.unary sqrt %14 : tensor<2x5x1xf32>
  %16 = cleave.broadcast %15 {dims = array<i64: 0, 1, 2>} : (tensor<2x5x1xf32>) -> tensor<2x5x12xf32>
  %17 = cleave.binary div %6, %16 : tensor<2x5x12xf32>
  %18 = cleave.load @n1_scale : tensor<12xf32>
  %19 = cleave.broadcast %18 {dims = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x5x12xf32>
  %20 = cleave.binary mul %17, %19 : tensor<2x5x12xf32>
  %21 = cleave.load @n1_bias : tensor<12xf32>
  %22 = cleave.broadcast %21 {dims = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x5x12xf32>
  %23 = cleave.binary add %20, %22 : tensor<2x5x12xf32>
  %24 = cleave.load @q : tensor<12x12xf32>
  %25 = cleave.dot %23, %24 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x5x12xf32>, tensor<12x12xf32>) -> tensor<2x5x12xf32>
  %26 = cleave.load @q_bias : tensor<12xf32>
  %27 = cleave.broadcast %26 {dims = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x5x12xf32>
  %28 = cleave.binary add %27, %25 : tensor<2x5x12xf32>
  %29 = cleave.reshape %28 : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %30 = cleave.transpose %29 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %31 = cleave.load @k : tensor<12x12xf32>
  %32 = cleave.dot %23, %31 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x5x12xf32>, tensor<12x12xf32>) -> tensor<2x5x12xf32>
  %33 = cleave.load @k_bias : tensor<12xf32>
  %34 = cleave.broadcast %33 {dims = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x5x12xf32>
  %35 = cleave.binary add %34, %32 : tensor<2x5x12xf32>
  %36 = cleave.reshape %35 : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %37 = cleave.transpose %36 {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x4x5xf32>
  %38 = cleave.load @v : tensor<12x12xf32>
  %39 = cleave.dot %23, %38 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x5x12xf32>, tensor<12x12xf32>) -> tensor<2x5x12xf32>
  %40 = cleave.load @v_bias : tensor<12xf32>
  %41 = cleave.broadcast %40 {dims = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x5x12xf32>
  %42 = cleave.binary add %41, %39 : tensor<2x5x12xf32>
  %43 = cleave.reshape %42 : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %44 = cleave.transpose %43 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %45 = cleave.constant dense<0.7> : tensor<2x3x5x4xf32>
  %46 = cleave.binary mul %30, %45 : tensor<2x3x5x4xf32>
  %47 = cleave.constant dense<0.7> : tensor<2x3x4x5xf32>
  %48 = cleave.binary mul %37, %47 : tensor<2x3x4x5xf32>
  %49 = cleave.dot %46, %48 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x3x5x4xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x5x5xf32>
  %50 = cleave.softmax %49 {dim = 3 : i64} : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
  %51 = cleave.dot %50, %44 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x3x5x5xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %52 = cleave.transpose %51 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  %53 = cleave.reshape %52 : (tensor<2x5x3x4xf32>) -> tensor<2x5x12xf32>
  %54 = cleave.load @o : tensor<12x12xf32>
  %55 = cleave.dot %53, %54 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x5x12xf32>, tensor<12x12xf32>) -> tensor<2x5x12xf32>
  %56 = cleave.load @o_bias : tensor<12xf32>
  %57 = cleave.broadcast %56 {dims = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x5x12xf32>
  %58 = cleave.binary add %57, %55 : tensor<2x5x12xf32>
  %59 = cleave.binary add %58, %x : tensor<2x5x12xf32>
  %60 = cleave.reduce sum %59 {dims = array<i64: 2>} : (tensor<2x5x12xf32>) -> tensor<2x5xf32>
  %61 = cleave.constant dense<0.08333333333333333> : tensor<2x5xf32>
  %62 = cleave.binary mul %60, %61 : tensor<2x5xf32>
  %63 = cleave.reshape %62 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
  %64 = cleave.broadcast %63 {dims = array<i64: 0, 1, 2>} : (tensor<2x5x1xf32>) -> tensor<2x5x12xf32>
  %65 = cleave.binary sub %59, %64 : tensor<2x5x12xf32>
  %66 = cleave.constant dense<2.0> : tensor<2x5x12xf32>
  %67 = cleave.binary pow %65, %66 : tensor<2x5x12xf32>
  %68 = cleave.reduce sum %67 {dims = array<i64: 2>} : (tensor<2x5x12xf32>) -> tensor<2x5xf32>
  %69 = cleave.constant dense<0.08333333333333333> : tensor<2x5xf32>
  %70 = cleave.binary mul %68, %69 : tensor<2x5xf32>
  %71 = cleave.reshape %70 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
  %72 = cleave.constant dense<0.5> : tensor<2x5x1xf32>
  %73 = cleave.binary add %71, %72 : tensor<2x5x1xf32>
  %74 = cleave.unary sqrt %73 : tensor<2x5x1xf32>
  %75 = cleave.broadcast %74 {dims = array<i64: 0, 1, 2>} : (tensor<2x5x1xf32>) -> tensor<2x5x12xf32>
  %76 = cleave.binary div %65, %75 : tensor<2x5x12xf32>
  %77 = cleave.load @n2_scale : tensor<12xf32>
  %78 = cleave.broadcast %77 {dims = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x5x12xf32>
  %79 = cleave.binary mul %76, %78 : tensor<2x5x12xf32>
  %80 = cleave.load @n2_bias : tensor<12xf32>
  %81 = cleave.broadcast %80 {dims = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x5x12xf32>
  %82 = cleave.binary add %79, %81 : tensor<2x5x12xf32>
  %83 = cleave.load @fc1 : tensor<12x7xf32>
  %84 = cleave.dot %82, %83 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x5x12xf32>, tensor<12x7xf32>) -> tensor<2x5x7xf32>
  %85 = cleave.load @fc1_bias : tensor<7xf32>
  %86 = cleave.broadcast %85 {dims = array<i64: 2>} : (tensor<7xf32>) -> tensor<2x5x7xf32>
  %87 = cleave.binary add %86, %84 : tensor<2x5x7xf32>
  %88 = cleave.constant dense<1.41421354> : tensor<2x5x7xf32>
  %89 = cleave.binary div %87, %88 : tensor<2x5x7xf32>
  %90 = cleave.unary erf %89 : tensor<2x5x7xf32>
  %91 = cleave.constant dense<1.0> : tensor<2x5x7xf32>
  %92 = cleave.binary add %90, %91 : tensor<2x5x7xf32>
  %93 = cleave.binary mul %87, %92 : tensor<2x5x7xf32>
  %94 = cleave.constant dense<0.5> : tensor<2x5x7xf32>
  %95 = cleave.binary mul %93, %94 : tensor<2x5x7xf32>
  %96 = cleave.load @fc2 : tensor<7x12xf32>
  %97 = cleave.dot %95, %96 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<2x5x7xf32>, tensor<7x12xf32>) -> tensor<2x5x12xf32>
  %98 = cleave.load @fc2_bias : tensor<12xf32>
  %99 = cleave.broadcast %98 {dims = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x5x12xf32>
  %100 = cleave.binary add %99, %97 : tensor<2x5x12xf32>
  %101 = cleave.binary add %100, %59 : tensor<2x5x12xf32>
  return %101 : tensor<2x5x12xf32>
}

// -----

// A block of GPT-2: rows joined for the products, one product for q, k and v, a causal
// mask, gelu by tanh.
cleave.param @n1_scale : tensor<12xf32>
cleave.param @qkv : tensor<12x36xf32>
cleave.param @qkv_bias : tensor<36xf32>
cleave.param @o : tensor<12x12xf32>
cleave.param @o_bias : tensor<12xf32>
cleave.param @n2_scale : tensor<12xf32>
cleave.param @fc1 : tensor<12x7xf32>
cleave.param @fc1_bias : tensor<7xf32>
cleave.param @fc2 : tensor<7x12xf32>
cleave.param @fc2_bias : tensor<12xf32>
func.func @main(%x: tensor<2x5x12xf32> {cleave.name = "x"}) -> (tensor<2x5x12xf32> {cleave.name = "y"}) {
  %102 = cleave.binary mul %x, %x : tensor<2x5x12xf32>
  %103 = cleave.reduce sum %102 {dims = array<i64: 2>} : (tensor<2x5x12xf32>) -> tensor<2x5xf32>
  %104 = cleave.constant dense<0.08333333333333333> : tensor<2x5xf32>
  %105 = cleave.binary mul %103, %104 : tensor<2x5xf32>
  %106 = cleave.reshape %105 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
  %107 = cleave.constant dense<0.5> : tensor<2x5x1xf32>
  %108 = cleave.binary add %106, %107 : tensor<2x5x1xf32>
  %109 = cleave.unary sqrt %108 : tensor<2x5x1xf32>
  %110 = cleave.unary reciprocal %109 : tensor<2x5x1xf32>
  %111 = cleave.load @n1_scale : tensor<12xf32>
  %112 = cleave.broadcast %111 {dims = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x5x12xf32>
  %113 = cleave.broadcast %110 {dims = array<i64: 0, 1, 2>} : (tensor<2x5x1xf32>) -> tensor<2x5x12xf32>
  %114 = cleave.binary mul %x, %113 : tensor<2x5x12xf32>
  %115 = cleave.binary mul %112, %114 : tensor<2x5x12xf32>
  %116 = cleave.reshape %115 : (tensor<2x5x12xf32>) -> tensor<10x12xf32>
  %117 = cleave.load @qkv : tensor<12x36xf32>
  %118 = cleave.dot %116, %117 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<10x12xf32>, tensor<12x36xf32>) -> tensor<10x36xf32>
  %119 = cleave.load @qkv_bias : tensor<36xf32>
  %120 = cleave.broadcast %119 {dims = array<i64: 1>} : (tensor<36xf32>) -> tensor<10x36xf32>
  %121 = cleave.binary add %120, %118 : tensor<10x36xf32>
  %122 = cleave.reshape %121 : (tensor<10x36xf32>) -> tensor<2x5x36xf32>
  %123 = cleave.slice %122 {starts = array<i64: 0, 0, 0>, sizes = array<i64: 2, 5, 12>, strides = array<i64: 1, 1, 1>} : (tensor<2x5x36xf32>) -> tensor<2x5x12xf32>
  %124 = cleave.slice %122 {starts = array<i64: 0, 0, 12>, sizes = array<i64: 2, 5, 12>, strides = array<i64: 1, 1, 1>} : (tensor<2x5x36xf32>) -> tensor<2x5x12xf32>
  %125 = cleave.slice %122 {starts = array<i64: 0, 0, 24>, sizes = array<i64: 2, 5, 12>, strides = array<i64: 1, 1, 1>} : (tensor<2x5x36xf32>) -> tensor<2x5x12xf32>
  %126 = cleave.reshape %123 : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %127 = cleave.transpose %126 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %128 = cleave.reshape %124 : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %129 = cleave.transpose %128 {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x4x5xf32>
  %130 = cleave.reshape %125 : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %131 = cleave.transpose %130 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %132 = cleave.dot %127, %129 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x3x5x4xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x5x5xf32>
  %133 = cleave.constant dense<0.5> : tensor<2x3x5x5xf32>
  %134 = cleave.binary mul %132, %133 : tensor<2x3x5x5xf32>
  %s = cleave.iota {dim = 0 : i64} : tensor<5x5xi64>
  %t = cleave.iota {dim = 1 : i64} : tensor<5x5xi64>
  %c = cleave.compare le %t, %s : (tensor<5x5xi64>, tensor<5x5xi64>) -> tensor<5x5xi1>
  %136 = cleave.constant dense<0.0> : tensor<5x5xf32>
  %137 = cleave.constant dense<-1.0e30> : tensor<5x5xf32>
  %138 = cleave.select %c, %136, %137 : (tensor<5x5xi1>, tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %139 = cleave.broadcast %138 {dims = array<i64: 2, 3>} : (tensor<5x5xf32>) -> tensor<2x3x5x5xf32>
  %140 = cleave.binary add %134, %139 : tensor<2x3x5x5xf32>
  %141 = cleave.softmax %140 {dim = 3 : i64} : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
  %142 = cleave.dot %141, %131 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<2x3x5x5xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %143 = cleave.transpose %142 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  %144 = cleave.reshape %143 : (tensor<2x5x3x4xf32>) -> tensor<10x12xf32>
  %145 = cleave.load @o : tensor<12x12xf32>
  %146 = cleave.dot %144, %145 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<10x12xf32>, tensor<12x12xf32>) -> tensor<10x12xf32>
  %147 = cleave.load @o_bias : tensor<12xf32>
  %148 = cleave.broadcast %147 {dims = array<i64: 1>} : (tensor<12xf32>) -> tensor<10x12xf32>
  %149 = cleave.binary add %148, %146 : tensor<10x12xf32>
  %150 = cleave.reshape %149 : (tensor<10x12xf32>) -> tensor<2x5x12xf32>
  %151 = cleave.binary add %150, %x : tensor<2x5x12xf32>
  %152 = cleave.binary mul %151, %151 : tensor<2x5x12xf32>
  %153 = cleave.reduce sum %152 {dims = array<i64: 2>} : (tensor<2x5x12xf32>) -> tensor<2x5xf32>
  %154 = cleave.constant dense<0.08333333333333333> : tensor<2x5xf32>
  %155 = cleave.binary mul %153, %154 : tensor<2x5xf32>
  %156 = cleave.reshape %155 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
  %157 = cleave.constant dense<0.5> : tensor<2x5x1xf32>
  %158 = cleave.binary add %156, %157 : tensor<2x5x1xf32>
  %159 = cleave.unary sqrt %158 : tensor<2x5x1xf32>
  %160 = cleave.unary reciprocal %159 : tensor<2x5x1xf32>
  %161 = cleave.load @n2_scale : tensor<12xf32>
  %162 = cleave.broadcast %161 {dims = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x5x12xf32>
  %163 = cleave.broadcast %160 {dims = array<i64: 0, 1, 2>} : (tensor<2x5x1xf32>) -> tensor<2x5x12xf32>
  %164 = cleave.binary mul %151, %163 : tensor<2x5x12xf32>
  %165 = cleave.binary mul %162, %164 : tensor<2x5x12xf32>
  %166 = cleave.reshape %165 : (tensor<2x5x12xf32>) -> tensor<10x12xf32>
  %167 = cleave.load @fc1 : tensor<12x7xf32>
  %168 = cleave.dot %166, %167 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<10x12xf32>, tensor<12x7xf32>) -> tensor<10x7xf32>
  %169 = cleave.load @fc1_bias : tensor<7xf32>
  %170 = cleave.broadcast %169 {dims = array<i64: 1>} : (tensor<7xf32>) -> tensor<10x7xf32>
  %171 = cleave.binary add %170, %168 : tensor<10x7xf32>
  %172 = cleave.reshape %171 : (tensor<10x7xf32>) -> tensor<2x5x7xf32>
  %173 = cleave.constant dense<3.0> : tensor<2x5x7xf32>
  %174 = cleave.binary pow %172, %173 : tensor<2x5x7xf32>
  %175 = cleave.constant dense<0.044715> : tensor<2x5x7xf32>
  %176 = cleave.binary mul %174, %175 : tensor<2x5x7xf32>
  %177 = cleave.binary add %172, %176 : tensor<2x5x7xf32>
  %178 = cleave.constant dense<0.797884583> : tensor<2x5x7xf32>
  %179 = cleave.binary mul %177, %178 : tensor<2x5x7xf32>
  %180 = cleave.unary tanh %179 : tensor<2x5x7xf32>
  %181 = cleave.constant dense<0.5> : tensor<2x5x7xf32>
  %182 = cleave.binary mul %172, %181 : tensor<2x5x7xf32>
  %183 = cleave.constant dense<1.0> : tensor<2x5x7xf32>
  %184 = cleave.binary add %180, %183 : tensor<2x5x7xf32>
  %185 = cleave.binary mul %182, %184 : tensor<2x5x7xf32>
  %186 = cleave.reshape %185 : (tensor<2x5x7xf32>) -> tensor<10x7xf32>
  %187 = cleave.load @fc2 : tensor<7x12xf32>
  %188 = cleave.dot %186, %187 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<10x7xf32>, tensor<7x12xf32>) -> tensor<10x12xf32>
  %189 = cleave.load @fc2_bias : tensor<12xf32>
  %190 = cleave.broadcast %189 {dims = array<i64: 1>} : (tensor<12xf32>) -> tensor<10x12xf32>
  %191 = cleave.binary add %190, %188 : tensor<10x12xf32>
  %192 = cleave.reshape %191 : (tensor<10x12xf32>) -> tensor<2x5x12xf32>
  %193 = cleave.binary add %151, %192 : tensor<2x5x12xf32>
  return %193 : tensor<2x5x12xf32>
}

// -----

// A block of Llama at batch 1: 4 heads over 2 groups, silu.
cleave.param @n1_scale : tensor<8xf32>
cleave.param @q : tensor<8x8xf32>
cleave.param @k : tensor<8x4xf32>
cleave.param @v : tensor<8x4xf32>
cleave.param @o : tensor<8x8xf32>
cleave.param @gate : tensor<8x6xf32>
cleave.param @up : tensor<8x6xf32>
cleave.param @down : tensor<6x8xf32>
func.func @main(%x: tensor<1x4x8xf32> {cleave.name = "x"}) -> (tensor<1x4x8xf32> {cleave.name = "y"}) {
  %194 = cleave.binary mul %x, %x : tensor<1x4x8xf32>
  %195 = cleave.reduce sum %194 {dims = array<i64: 2>} : (tensor<1x4x8xf32>) -> tensor<1x4xf32>
  %196 = cleave.constant dense<0.125> : tensor<1x4xf32>
  %197 = cleave.binary mul %195, %196 : tensor<1x4xf32>
  %198 = cleave.reshape %197 : (tensor<1x4xf32>) -> tensor<1x4x1xf32>
  %199 = cleave.constant dense<0.5> : tensor<1x4x1xf32>
  %200 = cleave.binary add %198, %199 : tensor<1x4x1xf32>
  %201 = cleave.unary sqrt %200 : tensor<1x4x1xf32>
  %202 = cleave.unary reciprocal %201 : tensor<1x4x1xf32>
  %203 = cleave.load @n1_scale : tensor<8xf32>
  %204 = cleave.broadcast %203 {dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<1x4x8xf32>
  %205 = cleave.broadcast %202 {dims = array<i64: 0, 1, 2>} : (tensor<1x4x1xf32>) -> tensor<1x4x8xf32>
  %206 = cleave.binary mul %x, %205 : tensor<1x4x8xf32>
  %207 = cleave.binary mul %204, %206 : tensor<1x4x8xf32>
  %208 = cleave.load @q : tensor<8x8xf32>
  %209 = cleave.dot %207, %208 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<8x8xf32>) -> tensor<1x4x8xf32>
  %210 = cleave.reshape %209 : (tensor<1x4x8xf32>) -> tensor<1x4x4x2xf32>
  %211 = cleave.transpose %210 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %212 = cleave.load @k : tensor<8x4xf32>
  %213 = cleave.dot %207, %212 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<8x4xf32>) -> tensor<1x4x4xf32>
  %214 = cleave.reshape %213 : (tensor<1x4x4xf32>) -> tensor<1x4x2x2xf32>
  %215 = cleave.transpose %214 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x2x2xf32>) -> tensor<1x2x4x2xf32>
  %216 = cleave.load @v : tensor<8x4xf32>
  %217 = cleave.dot %207, %216 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<8x4xf32>) -> tensor<1x4x4xf32>
  %218 = cleave.reshape %217 : (tensor<1x4x4xf32>) -> tensor<1x4x2x2xf32>
  %219 = cleave.transpose %218 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x2x2xf32>) -> tensor<1x2x4x2xf32>
  %220 = cleave.broadcast %215 {dims = array<i64: 0, 1, 3, 4>} : (tensor<1x2x4x2xf32>) -> tensor<1x2x2x4x2xf32>
  %221 = cleave.reshape %220 : (tensor<1x2x2x4x2xf32>) -> tensor<1x4x4x2xf32>
  %222 = cleave.transpose %221 {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x2x4xf32>
  %223 = cleave.dot %211, %222 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x4x4x2xf32>, tensor<1x4x2x4xf32>) -> tensor<1x4x4x4xf32>
  %224 = cleave.constant dense<1.5> : tensor<1x4x4x4xf32>
  %225 = cleave.binary div %223, %224 : tensor<1x4x4x4xf32>
  %226 = cleave.softmax %225 {dim = 3 : i64} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %227 = cleave.broadcast %219 {dims = array<i64: 0, 1, 3, 4>} : (tensor<1x2x4x2xf32>) -> tensor<1x2x2x4x2xf32>
  %228 = cleave.reshape %227 : (tensor<1x2x2x4x2xf32>) -> tensor<1x4x4x2xf32>
  %229 = cleave.dot %226, %228 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x4x4x4xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %230 = cleave.transpose %229 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %231 = cleave.reshape %230 : (tensor<1x4x4x2xf32>) -> tensor<1x4x8xf32>
  %232 = cleave.load @o : tensor<8x8xf32>
  %233 = cleave.dot %231, %232 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<8x8xf32>) -> tensor<1x4x8xf32>
  %234 = cleave.binary add %x, %233 : tensor<1x4x8xf32>
  %235 = cleave.load @gate : tensor<8x6xf32>
  %236 = cleave.dot %234, %235 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<8x6xf32>) -> tensor<1x4x6xf32>
  %237 = cleave.unary sigmoid %236 : tensor<1x4x6xf32>
  %238 = cleave.binary mul %236, %237 : tensor<1x4x6xf32>
  %239 = cleave.load @up : tensor<8x6xf32>
  %240 = cleave.dot %234, %239 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<8x6xf32>) -> tensor<1x4x6xf32>
  %241 = cleave.binary mul %238, %240 : tensor<1x4x6xf32>
  %242 = cleave.load @down : tensor<6x8xf32>
  %243 = cleave.dot %241, %242 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x4x6xf32>, tensor<6x8xf32>) -> tensor<1x4x8xf32>
  %244 = cleave.binary add %234, %243 : tensor<1x4x8xf32>
  return %244 : tensor<1x4x8xf32>
}
